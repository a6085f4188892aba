import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../testing/test-database.ts';
import { openDatabase, storableJson, type Database } from './index.ts';

let home: TestDatabase;
let db: Database;

beforeAll(async () => {
  home = await createTestDatabase();
  db = openDatabase({ url: home.url, maxConnections: 1, applicationName: 'test', onError: () => undefined });
});

afterAll(async () => {
  await db.close();
  await home.drop();
});

const withoutUnstorable = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');

test('any text comes back from jsonb as it was, but for U+0000 and lone surrogates', async () => {
  const unit = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\\', '\0', '\ud800', '\udfff', '\\u0000', '"'));
  const texts = fc.array(unit).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      const { rows } = await db.query<{ back: { text: string } }>({
        text: 'select $1::jsonb as back',
        values: [storableJson({ text })],
      });
      expect(rows[0]?.back.text).toBe(withoutUnstorable(text));
    }),
  );
});

test('keys are made storable like values', () => {
  expect(storableJson({ 'a\0b': ['\ud800', '\\u0000'] })).toBe('{"a\uFFFDb":["\uFFFD","\\\\u0000"]}');
});

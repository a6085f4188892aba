import fc from 'fast-check';
import { expect, test } from 'vitest';
import { constant, JsonWriter } from './json-writer.ts';

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme', maxLength: 200 }));

test('strings and JSON are written as JSON.stringify writes them, however long', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(text, fc.jsonValue()), { maxLength: 50 }), (items) => {
      const json = new JsonWriter();
      json.raw(constant('['));
      json.list(items, ([string, value]) => {
        json.string(string);
        json.comma();
        json.json(JSON.stringify(value));
      });
      json.raw(constant(']'));
      expect(json.finish().toString()).toBe(JSON.stringify(items.flat()));
    }),
  );
});

test('what was written can be repeated beyond what was reserved', () => {
  const json = new JsonWriter();
  json.string('京');
  for (let i = 0; i < 14; i++) json.again(0, json.length);
  expect(json.finish().toString()).toBe('"京"'.repeat(2 ** 14));
});

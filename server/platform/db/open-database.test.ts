import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../testing/test-database.ts';
import { AppError } from '../errors/index.ts';
import { isDatabaseAway, isUniqueViolation, openDatabase, prepared, type Database } from './index.ts';

let home: TestDatabase;
let db: Database;

beforeAll(async () => {
  home = await createTestDatabase();
  db = openDatabase({ url: home.url, maxConnections: 4, applicationName: 'test', onError: () => undefined });
  await db.query({ text: 'create table notes (id int primary key, body text, data jsonb)' });
});

afterAll(async () => {
  await db.close();
  await home.drop();
});

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  const error = await failureOf(work);
  return error instanceof AppError ? error.code : undefined;
}

test('a transaction that throws leaves nothing behind', async () => {
  const attempt = db.transaction(async (tx) => {
    await tx.query({ text: 'insert into notes (id) values (1)' });
    throw new Error('changed my mind');
  });
  await expect(attempt).rejects.toThrow('changed my mind');
  const { rowCount } = await db.query({ text: 'select from notes where id = 1' });
  expect(rowCount).toBe(0);
});

test('a transaction whose failure was swallowed is not reported as committed', async () => {
  const attempt = db.transaction(async (tx) => {
    await tx.query({ text: 'insert into notes (id) values (2)' });
    await tx.query({ text: 'select 1/0' }).catch(() => undefined);
  });
  await expect(attempt).rejects.toThrow('nothing was committed');
});

test('a transaction cannot be used after its end', async () => {
  const kept = await db.transaction((tx) => Promise.resolve(tx));
  await expect(kept.query({ text: 'select 1' })).rejects.toThrow('has ended');
});

test('bigint is a number where that is exact, and a date is its text', async () => {
  const { rows } = await db.query({
    text: `select 42::int8 as n, 9007199254740993::int8 as big, date '2026-02-03' as day`,
  });
  expect(rows).toEqual([{ n: 42, big: '9007199254740993', day: '2026-02-03' }]);
});

test('a prepared text has one name', () => {
  expect(prepared('select 1')().name).toBe(prepared('select 1')([1]).name);
  expect(prepared('select 1')().name).not.toBe(prepared('select 2')().name);
});

test('values that no column can hold are the caller’s mistake', async () => {
  const insert = 'insert into notes (id, body, data) values ($1, $2, $3)';
  expect(await codeOf(db.query({ text: insert, values: [3, 'a\0b', null] }))).toBe('INVALID_REQUEST');
  expect(await codeOf(db.query({ text: insert, values: [3, '', '{"a":"\\u0000"}'] }))).toBe('INVALID_REQUEST');
  expect(await codeOf(db.query({ text: insert, values: [3, '', '{"a":"\\ud800"}'] }))).toBe('INVALID_REQUEST');
  expect(await codeOf(db.query({ text: insert, values: ['three', '', null] }))).toBe('INVALID_REQUEST');
  expect(await codeOf(db.transaction((tx) => tx.query({ text: insert, values: [3, '\0', null] })))).toBe(
    'INVALID_REQUEST',
  );
});

test('a second row with the same key is told by its constraint', async () => {
  await db.query({ text: 'insert into notes (id) values (4)' });
  const error = await failureOf(db.query({ text: 'insert into notes (id) values (4)' }));
  expect(isUniqueViolation(error)).toBe(true);
  expect(isUniqueViolation(error, 'notes_pkey')).toBe(true);
  expect(isUniqueViolation(error, 'another')).toBe(false);
});

test('no database at the address is UNAVAILABLE', async () => {
  const absent = openDatabase({
    url: 'postgresql://nobody@127.0.0.1:1/none',
    maxConnections: 1,
    applicationName: 'test',
    onError: () => undefined,
  });
  expect(await codeOf(absent.query({ text: 'select 1' }))).toBe('UNAVAILABLE');
  expect(await codeOf(absent.transaction(() => Promise.resolve()))).toBe('UNAVAILABLE');
  expect(await codeOf(absent.connect())).toBe('UNAVAILABLE');
  await absent.close();
});

test('a killed connection fails its transaction as UNAVAILABLE and harms nothing after', async () => {
  const error = await failureOf(
    db.transaction(async (tx) => {
      await tx.query({ text: 'insert into notes (id) values (5)' });
      await home.breakConnections();
      await tx.query({ text: 'insert into notes (id) values (6)' });
    }),
  );
  expect(error).toMatchObject({ code: 'UNAVAILABLE' });
  expect(isDatabaseAway(error)).toBe(true);
  const { rowCount } = await db.query({ text: 'select from notes where id in (5, 6)' });
  expect(rowCount).toBe(0);
});

test('idle connections that are killed are replaced unnoticed', async () => {
  await Promise.all([1, 2, 3, 4].map(() => db.query({ text: 'select pg_sleep(0.05)' })));
  await home.breakConnections();
  await expect.poll(() => db.stats().total).toBe(0);
  await expect(db.query({ text: 'select 1 as one' })).resolves.toMatchObject({ rows: [{ one: 1 }] });
});

test('a transaction that begins on a connection just killed takes another', async () => {
  for (let round = 0; round < 10; round++) {
    await Promise.all([1, 2, 3, 4].map(() => db.query({ text: 'select pg_sleep(0.01)' })));
    await home.breakConnections();
    const { rows } = await db.transaction((tx) => tx.query({ text: 'select 1 as one' }));
    expect(rows).toEqual([{ one: 1 }]);
  }
});

test('a statement that runs too long is UNAVAILABLE, but the database is not away', async () => {
  const error = await failureOf(
    db.transaction(async (tx) => {
      await tx.query({ text: `set local statement_timeout = '20ms'` });
      await tx.query({ text: 'select pg_sleep(5)' });
    }),
  );
  expect(error).toMatchObject({ code: 'UNAVAILABLE' });
  expect(isDatabaseAway(error)).toBe(false);
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../platform/db/index.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/test-database.ts';
import { addUsage, readMonth, type UsageBatch } from './usage.store.ts';

let testDatabase: TestDatabase;
let db: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = openDatabase({ url: testDatabase.url, maxConnections: 4, applicationName: 'test', onError: () => undefined });
});
afterAll(async () => {
  await db.close();
  await testDatabase.drop();
});

const DAY = '2026-01-31';

function batchOf(writerId: string, number: number, requests: Record<string, number>): UsageBatch {
  const counts = Object.entries(requests).map(([keyId, count]) => {
    return [keyId, { developerId: 'dev_a', keyId, day: DAY, requests: count }] as const;
  });
  return { writerId, number, counts: new Map(counts) };
}

async function todayOf(keyId: string): Promise<number> {
  return (await readMonth(db, { developerId: 'dev_a', keyId, day: DAY, writerId: 'use_x' })).today;
}

test('a batch that is written twice counts once, and gives the total both times', async () => {
  const batch = batchOf('use_1', 1, { key_1: 5, key_2: 7 });
  const first = await addUsage(db, batch);
  const again = await addUsage(db, batch);
  expect(new Set(first.map(({ requests }) => requests))).toEqual(new Set([5, 7]));
  expect(new Set(again.map(({ requests }) => requests))).toEqual(new Set([5, 7]));
  expect(await todayOf('key_1')).toBe(5);
});

test('a batch that is written again while its first commit is under way counts once', async () => {
  const batch = batchOf('use_2', 1, { key_3: 5 });
  const { promise: mayCommit, resolve: letCommit } = Promise.withResolvers<void>();
  const { promise: isWritten, resolve: wrote } = Promise.withResolvers<void>();
  const first = db.transaction(async (tx) => {
    await addUsage(tx, batch);
    wrote();
    await mayCommit;
  });
  await isWritten;
  const second = addUsage(db, batch);
  letCommit();
  await first;
  expect((await second)[0]?.requests).toBe(5);
  expect(await todayOf('key_3')).toBe(5);
});

test('a batch whose first writing was undone is added by the second', async () => {
  const batch = batchOf('use_3', 1, { key_4: 5 });
  const undone = db.transaction(async (tx) => {
    await addUsage(tx, batch);
    throw new Error('the connection broke');
  });
  await expect(undone).rejects.toThrow('the connection broke');
  await addUsage(db, batch);
  expect(await todayOf('key_4')).toBe(5);
});

test('batches of one key by many writers at once all count', async () => {
  const batches = Array.from({ length: 20 }, (_, i) => batchOf(`use_m${i % 4}`, i + 1, { key_5: 1, key_6: 2 }));
  // A writer has one batch under way at a time.
  for (let i = 0; i < batches.length; i += 4) {
    await Promise.all(batches.slice(i, i + 4).map((batch) => addUsage(db, batch)));
  }
  expect([await todayOf('key_5'), await todayOf('key_6')]).toEqual([20, 40]);
});

test('a month is what lies in it by the UTC calendar, and the day is apart', async () => {
  const requests: Record<string, number> = { '2026-01-31': 1, '2026-02-01': 2, '2026-02-28': 4, '2026-03-01': 8 };
  for (const [day, count] of Object.entries(requests)) {
    const counts = new Map([[day, { developerId: 'dev_a', keyId: 'key_7', day, requests: count }]]);
    await addUsage(db, { writerId: `use_${day}`, number: 3, counts });
  }
  const month = await readMonth(db, {
    developerId: 'dev_a',
    keyId: 'key_7',
    day: '2026-02-28',
    writerId: 'use_2026-03-01',
  });
  expect(month).toEqual({ today: 4, otherDays: 2, lastBatch: 3 });
});

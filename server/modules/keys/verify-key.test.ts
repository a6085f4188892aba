import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../platform/db/index.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/test-database.ts';
import { createDeveloper } from './create-developer.ts';
import { Limiter } from './limiter.ts';
import { movableClock } from './movable-clock.ts';
import { addUsage } from './usage.store.ts';
import { createVerifier } from './verify-key.ts';

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

const NO_CHANGES = {
  on: () => undefined,
  onLost: () => undefined,
  isLive: () => true,
  close: () => Promise.resolve(),
};
const LIMITS = { perMinute: 10, perDay: 1000 };

test('a key that was not used for long goes on from what the database holds by then', async () => {
  const clock = movableClock(Date.UTC(2026, 0, 31, 12));
  const limits = { free: LIMITS, basic: LIMITS, pro: LIMITS, enterprise: LIMITS };
  const limiter = new Limiter({ clock, limits, redis: undefined });
  const verifier = createVerifier({ database: db, changes: NO_CHANGES, limiter, clock, customKeyHashes: new Set() });
  const { id: developerId, apiKey } = await createDeveloper(db, { name: 'Acme' });
  const caller = await verifier.identify(apiKey.key);
  expect(verifier.identify(apiKey.key)).toBe(caller);

  const count = { developerId, keyId: apiKey.id, day: '2026-01-31', requests: 400 };
  await addUsage(db, { writerId: 'use_other', number: 1, counts: new Map([['', count]]) });
  clock.advance(60_001);
  limiter.sweep();
  expect(await verifier.identify(apiKey.key)).toEqual(caller);
  expect(limiter.meter(apiKey.id)?.today).toBe(400);
  expect(verifier.identify(apiKey.key)).not.toBeInstanceOf(Promise);
  await limiter.close();
});

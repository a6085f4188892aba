import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../../platform/db/index.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/test-database.ts';
import { raiseAlerts, raiseDailyLimits } from './index.ts';

let home: TestDatabase;
let db: Database;

beforeAll(async () => {
  home = await createTestDatabase();
  db = openDatabase({ url: home.url, maxConnections: 8, applicationName: 'test', onError: () => undefined });
});
afterAll(async () => {
  await db.close();
  await home.drop();
});
beforeEach(async () => {
  await db.query({ text: 'truncate outbox_events, alert_incidents' });
});

async function told(): Promise<unknown[]> {
  const { rows } = await db.query<{ data: unknown }>({
    text: `select data from outbox_events where type = 'alert.triggered' order by seq`,
  });
  return rows.map(({ data }) => data);
}

async function incidents(): Promise<unknown[]> {
  const { rows } = await db.query<{ incident: string }>({ text: 'select incident from alert_incidents order by 1' });
  return rows.map(({ incident }) => incident);
}

const disabled = {
  developerId: 'dev_1',
  alertType: 'subscription_disabled' as const,
  source: 'hook_1',
  message: 'It was disabled.',
  severity: 'error' as const,
};
const use = { developerId: 'dev_1', keyId: 'key_1', day: '2026-01-31', used: 800, cap: 1000, percent: 80 };

test('an alert without an incident is told each time', async () => {
  const { developerId: _, ...data } = disabled;
  await db.transaction((tx) => raiseAlerts(tx, [disabled]));
  await db.transaction((tx) => raiseAlerts(tx, [disabled]));
  expect(await told()).toEqual([data, data]);
  expect(await incidents()).toEqual([]);
});

test('an alert of an incident is told once, even when it is raised twice in one call', async () => {
  const first = { ...disabled, incident: 'first' };
  await db.transaction((tx) => raiseAlerts(tx, [first, first, { ...disabled, incident: 'second' }]));
  await db.transaction((tx) => raiseAlerts(tx, [first, { ...first, developerId: 'dev_2' }]));
  expect(await told()).toHaveLength(3);
});

test('an alert whose transaction is undone was not told, and can be raised again', async () => {
  const undone = db.transaction(async (tx) => {
    await raiseAlerts(tx, [{ ...disabled, incident: 'first' }]);
    throw new Error('no');
  });
  await expect(undone).rejects.toThrow('no');
  await db.transaction((tx) => raiseAlerts(tx, [{ ...disabled, incident: 'first' }]));
  expect(await told()).toHaveLength(1);
});

test('whoever raises the same incidents at once, in whatever order, each is told once', async () => {
  const many = Array.from({ length: 50 }, (_, n) => ({ ...disabled, incident: `${n}` }));
  const orders = Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? many : many.toReversed()));
  await Promise.all(orders.map((alerts) => db.transaction((tx) => raiseAlerts(tx, alerts))));
  expect(await told()).toHaveLength(50);
});

test('the daily limit is told at 80% and at 100%, once for each key and day', async () => {
  const all = { ...use, used: 1000, percent: 100 };
  for (const uses of [[use], [use], [all], [use, all]]) await db.transaction((tx) => raiseDailyLimits(tx, uses));
  expect(await told()).toEqual([
    {
      alertType: 'daily_limit',
      source: 'key_1',
      message: '80% of the daily requests are used: the key key_1 has made 800 of 1,000 on 2026-01-31 (UTC).',
      severity: 'warning',
    },
    {
      alertType: 'daily_limit',
      source: 'key_1',
      message:
        '100% of the daily requests are used: the key key_1 has made 1,000 of 1,000 on 2026-01-31 (UTC). Further ones are refused until the day ends.',
      severity: 'error',
    },
  ]);
  await db.transaction((tx) =>
    raiseDailyLimits(tx, [
      { ...use, day: '2026-02-01' },
      { ...use, keyId: 'key_2' },
    ]),
  );
  expect(await told()).toHaveLength(4);
});

test('days that are over are forgotten when a new one is told of', async () => {
  await db.transaction((tx) => raiseDailyLimits(tx, [use, { ...use, developerId: 'dev_2' }]));
  await db.query({ text: `update alert_incidents set raised_at = now() - interval '49 hours'` });
  await db.transaction((tx) => raiseAlerts(tx, [{ ...disabled, incident: 'kept' }]));
  await db.transaction((tx) => raiseDailyLimits(tx, [{ ...use, day: '2026-02-02' }]));
  expect(await incidents()).toEqual(['2026-01-31 80%', '2026-02-02 80%', 'kept']);
});

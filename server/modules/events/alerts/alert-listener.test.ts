import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EventType } from '../../../../contract/events/index.ts';
import { openDatabase, type Database } from '../../../platform/db/index.ts';
import { createId } from '../../../platform/ids/index.ts';
import { createOutboxRelay, publishEvents, type NewEvent, type OutboxEvent } from '../../../platform/outbox/index.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/test-database.ts';
import { createAlertListener } from './index.ts';

const log = pino({ level: 'silent' });
const listen = createAlertListener();
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
  await db.query({ text: 'truncate outbox_events, outcome_history, alert_incidents' });
});

interface Told {
  developerId: string;
  source: string;
  alertType: string;
  message: string;
  severity: string;
}

async function alerts(): Promise<Told[]> {
  const { rows } = await db.query<{ developerId: string; data: Omit<Told, 'developerId'> }>({
    text: `select developer_id as "developerId", data from outbox_events where type = 'alert.triggered' order by seq`,
  });
  return rows.map(({ developerId, data }) => ({ developerId, ...data }));
}

async function hand(...events: NewEvent[]): Promise<void> {
  const handed = events.map((event): OutboxEvent => ({
    id: createId('evt'),
    createdAt: new Date(),
    depth: 0,
    ...event,
  }));
  await db.transaction((tx) => listen(tx, handed));
}

/** One event for each letter: s for a success, f for a failure. */
function calls(letters: string, toolName = 'get_order', developerId = 'dev_1'): NewEvent[] {
  return Array.from(letters, (letter) =>
    letter === 's'
      ? { developerId, type: 'tool.executed', data: { toolName, input: {}, result: 1, elapsed_ms: 1 } }
      : { developerId, type: 'tool.failed', data: { toolName, input: {}, error: 'HTTP 503' } },
  );
}

function runs(letters: string, error = 'no such address'): NewEvent[] {
  const about = { workflowId: 'wf_1', workflowName: 'Nightly report', runId: 'run_1' };
  return Array.from(letters, (letter) =>
    letter === 's'
      ? { developerId: 'dev_1', type: 'workflow.completed', data: { ...about, status: 'completed', stepResults: [] } }
      : { developerId: 'dev_1', type: 'workflow.failed', data: { ...about, error } },
  );
}

describe('a tool', () => {
  test('that fails in over half of its last 20 calls raises one alert', async () => {
    await hand(...calls('sssssssss'));
    await hand(...calls('ffffffffff'));
    expect(await alerts()).toEqual([]);
    await hand(...calls('f'));
    const alert = {
      developerId: 'dev_1',
      alertType: 'tool_failure_rate',
      source: 'get_order',
      message: '11 of the last 20 calls of the tool "get_order" failed. The last error: HTTP 503',
      severity: 'warning',
    };
    expect(await alerts()).toEqual([alert]);
    await hand(...calls('f'.repeat(50)));
    expect(await alerts()).toEqual([alert]);
  });

  test('that fails in half of its calls, or was called less than 20 times, raises none', async () => {
    await hand(...calls('sf'.repeat(50)));
    await hand(...calls('f'.repeat(19), 'new_tool'));
    expect(await alerts()).toEqual([]);
  });

  test('raises the next alert only after its rate came back to half', async () => {
    await hand(...calls('f'.repeat(20)));
    await hand(...calls('s'.repeat(9)), ...calls('f'.repeat(11)));
    expect(await alerts()).toHaveLength(1);
    await hand(...calls('s'.repeat(10)));
    await hand(...calls('f'.repeat(11)));
    expect(await alerts()).toHaveLength(2);
  });

  test('that recovers and fails again within one batch raises both alerts', async () => {
    await hand(...calls('f'.repeat(20) + 's'.repeat(20) + 'f'.repeat(20)));
    expect(await alerts()).toHaveLength(2);
  });

  test('is counted for each developer and name alone', async () => {
    await hand(...calls('f'.repeat(19)), ...calls('f', 'get_order', 'dev_2'), ...calls('f', 'other'));
    expect(await alerts()).toEqual([]);
    await hand(...calls('f'.repeat(19), 'get_order', 'dev_2'));
    expect(await alerts()).toMatchObject([{ developerId: 'dev_2', source: 'get_order' }]);
  });

  test.each([
    ['spaces and a property of objects', ' __proto__ constructor '],
    ['quotes', `'";--\\`],
    ['the greatest length', '😀'.repeat(128)],
    ['more than any index takes', Array.from({ length: 5000 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('')],
  ])('may have any name: %s', async (_, name) => {
    await hand(...calls('f'.repeat(10), name));
    await hand(...calls('f'.repeat(10), name));
    expect(await alerts()).toMatchObject([{ source: name.slice(0, 512) }]);
  });

  test('that nobody called for a month begins anew', async () => {
    await hand(...calls('f'.repeat(20)));
    await db.query({ text: `update outcome_history set updated_at = now() - interval '31 days'` });
    await hand(...calls('s', 'other'));
    const { rows } = await db.query({ text: 'select source from outcome_history' });
    expect(rows).toEqual([{ source: 'other' }]);
  });
});

describe('a workflow', () => {
  test('that fails 3 times in a row raises one alert, and another after it completed', async () => {
    await hand(...runs('ffsffsff'));
    expect(await alerts()).toEqual([]);
    await hand(...runs('f', 'x'.repeat(1000)));
    await hand(...runs('ffff'));
    expect(await alerts()).toEqual([
      {
        developerId: 'dev_1',
        alertType: 'workflow_failing',
        source: 'wf_1',
        message: `The workflow "Nightly report" failed 3 times in a row. The last error: ${'x'.repeat(300)}…`,
        severity: 'error',
      },
    ]);
    await hand(...runs('sfff'));
    expect(await alerts()).toHaveLength(2);
  });
});

describe('events', () => {
  test('of which no condition speaks touch nothing', async () => {
    const untouchable = { query: () => Promise.reject(new Error('asked the database')) };
    const types: EventType[] = ['alert.triggered', 'ai.conversation', 'graph.synced', 'app.installed'];
    const events = types.map((type) => {
      const data = { toolName: 'get_order', workflowId: 'wf_1', source: 'x' };
      return { id: 'evt_1', createdAt: new Date(), depth: 0, developerId: 'dev_1', type, data };
    });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a transaction that must not be used
    await expect(listen(untouchable as never, events)).resolves.toBeUndefined();
  });

  test('that do not say what failed are passed over, and those beside them count', async () => {
    const odd = [{}, { toolName: null }, { toolName: 7 }, { toolName: ['get_order'] }];
    const broken = odd.map((data): NewEvent => ({ developerId: 'dev_2', type: 'tool.failed', data }));
    await hand(...broken, ...calls('f'.repeat(20)), ...broken);
    expect(await alerts()).toHaveLength(1);
  });

  test('in batches of any size leave what a plain list would, and raise what it would', async () => {
    const event = fc.record({ source: fc.constantFrom('a', 'b'), letter: fc.constantFrom('s', 'f', 'f') });
    const streams = fc.array(fc.array(event, { maxLength: 30 }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(streams, async (batches) => {
        await db.query({ text: 'truncate outbox_events, outcome_history' });
        const model = new Map<string, { all: string[]; isFailing: boolean }>();
        let expected = 0;
        for (const { source, letter } of batches.flat()) {
          const known = model.get(source) ?? { all: [], isFailing: false };
          known.all.push(letter);
          const last = known.all.slice(-20);
          const isFailing = last.length === 20 && last.filter((each) => each === 'f').length > 10;
          if (isFailing && !known.isFailing) expected++;
          model.set(source, { ...known, isFailing });
        }
        for (const batch of batches) await hand(...batch.flatMap(({ source, letter }) => calls(letter, source)));
        const { rows } = await db.query<{ source: string; outcomes: string }>({
          text: 'select source, outcomes from outcome_history',
        });
        const stored = Object.fromEntries(rows.map(({ source, outcomes }) => [source, outcomes]));
        const wanted = Array.from(model, ([source, { all }]) => [source, all.slice(-20).join('')] as const);
        expect(stored).toEqual(Object.fromEntries(wanted));
        expect(await alerts()).toHaveLength(expected);
      }),
      { numRuns: 100 },
    );
  });
});

describe('with three relays at once whose connections break', () => {
  test('every tool that fails raises exactly one alert', async () => {
    const tools = Array.from({ length: 20 }, (_, n) => `tool ${n}`);
    const relays = await Promise.all(
      [1, 2, 3].map(() => createOutboxRelay({ database: db, url: home.url, listeners: [listen], log })),
    );
    for (let round = 0; round < 5; round++) {
      // Alternately in one order and in the other: whoever locked in the order of events would deadlock.
      const named = round % 2 === 0 ? tools : tools.toReversed();
      await db.transaction((tx) =>
        publishEvents(
          tx,
          named.flatMap((name) => calls('f'.repeat(20), name)),
        ),
      );
      await home.breakConnections();
    }
    const waiting = { text: 'select from outbox_events where dispatched_at is null' };
    await expect.poll(async () => (await db.query(waiting)).rowCount, { timeout: 20_000 }).toBe(0);
    await Promise.all(relays.map((relay) => relay.stop()));
    const sources = (await alerts()).map(({ source }) => source);
    expect(sources.toSorted()).toEqual(tools.toSorted());
    const { rows } = await db.query({ text: 'select distinct outcomes from outcome_history' });
    expect(rows).toEqual([{ outcomes: 'f'.repeat(20) }]);
  });
});

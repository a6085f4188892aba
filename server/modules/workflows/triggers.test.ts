import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { publishEvents } from '../../platform/outbox/index.ts';
import { tick } from './cron-clock.ts';
import { DEVELOPER, node, WorkflowBench } from '../../testing/workflow-bench.ts';
import type { WorkflowRow } from './workflow.store.ts';

let bench: WorkflowBench;

beforeEach(async () => {
  bench = await WorkflowBench.open();
});
afterEach(() => bench.close());

test('an event starts each workflow that waits for it and whose filter it passes, once', async () => {
  const workflows = await bench.work();
  await bench.relay(workflows.work.listener);
  const trigger = { type: 'event' as const, event: 'graph.synced' as const };
  const all = await bench.create([node('a')], [], { trigger });
  const some = await bench.create([node('a')], [], { trigger: { ...trigger, filter: { graphId: ['crm', 'erp'] } } });
  const none = await bench.create([node('a')], [], { trigger: { ...trigger, filter: { graphId: 'hr' } } });
  const data = { graphId: 'crm', nodesWritten: 1, edgesWritten: 0 };
  await bench.db.transaction((tx) => publishEvents(tx, [{ developerId: DEVELOPER, type: 'graph.synced', data }]));
  const runs = async ({ id }: WorkflowRow) =>
    (
      await bench.db.query({
        text: 'select trigger_data, triggered_by from workflow_runs where workflow_id = $1',
        values: [id],
      })
    ).rows;
  await expect.poll(() => runs(all)).toEqual([{ trigger_data: data, triggered_by: 'event' }]);
  await expect.poll(() => runs(some)).toHaveLength(1);
  expect(await runs(none)).toEqual([]);
});

test('a workflow that sets itself off is stopped with an alert', async () => {
  const workflows = await bench.work();
  await bench.relay(workflows.work.listener);
  const trigger = { type: 'event' as const, event: 'workflow.completed' as const };
  const workflow = await bench.create([node('a')], [], { trigger });
  await bench.start(workflows, workflow);
  const alerts = async () =>
    (await bench.db.query({ text: `select data from outbox_events where type = 'alert.triggered'` })).rows;
  await expect
    .poll(alerts, { timeout: 20_000 })
    .toMatchObject([{ data: { alertType: 'workflow_loop', source: workflow.id } }]);
  await sleep(300);
  expect(bench.begun).toHaveLength(9);
});

test('one run a tick, whatever the number of processes', { timeout: 20_000 }, async () => {
  await Promise.all([bench.work(), bench.work(), bench.work()]);
  const trigger = { type: 'cron' as const, schedule: '* * * * * *' };
  const { id } = await bench.create([node('a')], [], { trigger });
  await sleep(3500);
  const { rows } = await bench.db.query<{ tick: string }>({
    text: `select trigger_data ->> 'scheduledAt' as tick from workflow_runs where workflow_id = $1 order by 1`,
    values: [id],
  });
  const ticks = rows.map((row) => Date.parse(row.tick));
  expect(ticks.length).toBeGreaterThanOrEqual(2);
  expect(ticks).toEqual(ticks.map((_tick, i) => (ticks[0] ?? 0) + i * 1000));
});

test.each([
  ['latest', 1],
  ['skip', 0],
  ['all', 3],
] as const)('missed ticks are made up for by the policy %s', async (catchUp, count) => {
  const trigger = { type: 'cron' as const, schedule: '0 0 1 1 *', catchUp };
  const { id } = await bench.create([], [], { trigger });
  const year = new Date().getUTCFullYear();
  await bench.db.query({ text: 'update workflows set next_tick = $1', values: [new Date(Date.UTC(year - 2, 0, 1))] });
  await bench.work();
  const runs = () => bench.db.query({ text: 'select from workflow_runs where workflow_id = $1', values: [id] });
  await expect
    .poll(async () => (await bench.db.query({ text: 'select from workflows where next_tick > now()' })).rowCount, {
      timeout: 5000,
    })
    .toBe(1);
  expect((await runs()).rowCount).toBe(count);
});

const MINUTE_MS = 60_000;

/** The ticks of a workflow that started a run, oldest first. */
async function startedTicks({ id }: WorkflowRow): Promise<number[]> {
  const rows = await bench.rows(
    `select trigger_data ->> 'scheduledAt' as tick from workflow_runs where workflow_id = $1 order by 1`,
    [id],
  );
  return rows.map(({ tick: text }) => Date.parse(String(text)));
}

test('clocks that jump over ticks, ahead and back and not together, neither lose a run nor double it', async () => {
  const trigger = { type: 'cron' as const, schedule: '* * * * *', catchUp: 'all' as const };
  const workflow = await bench.create([], [], { trigger });
  const start = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS;
  await bench.db.query({ text: 'update workflows set next_tick = $1', values: [new Date(start)] });
  // Of three processes, each with a clock of its own: minutes from the first tick.
  const looks = [0, 1, 1, 30.5, 2, 0.2, 31, -500, 30.9, 32, 90, 33, 33.5, 91, 90.5];
  for (const minutes of looks) {
    const clock = { nowMs: () => start + minutes * MINUTE_MS, steadyMs: () => 0 };
    await Promise.all([tick(bench.db, clock), tick(bench.db, clock), tick(bench.db, clock)]);
  }
  expect(await startedTicks(workflow)).toEqual(Array.from({ length: 92 }, (_, i) => start + i * MINUTE_MS));
});

test('a clock that was set ahead and back does not start a schedule again whose runs have been', async () => {
  const trigger = { type: 'cron' as const, schedule: '* * * * *' };
  const workflow = await bench.create([], [], { trigger });
  const start = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS;
  await bench.db.query({ text: 'update workflows set next_tick = $1', values: [new Date(start)] });
  for (const minutes of [0, 60, 1, 2, 59, 60, 61]) {
    await tick(bench.db, { nowMs: () => start + minutes * MINUTE_MS, steadyMs: () => 0 });
  }
  expect(await startedTicks(workflow)).toEqual([0, 60, 61].map((minutes) => start + minutes * MINUTE_MS));
});

test('a tick at which the process dies is made up for by the next one, once', async () => {
  const trigger = { type: 'cron' as const, schedule: '* * * * *', catchUp: 'all' as const };
  const workflow = await bench.create([], [], { trigger });
  const start = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS;
  await bench.db.query({ text: 'update workflows set next_tick = $1', values: [new Date(start)] });
  for (let minutes = 0; minutes < 20; minutes++) {
    const clock = { nowMs: () => start + minutes * MINUTE_MS, steadyMs: () => 0 };
    const work = tick(bench.db, clock).catch(() => undefined);
    if (minutes % 2 === 0) await bench.home.breakConnections();
    await work;
  }
  await tick(bench.db, { nowMs: () => start + 19.5 * MINUTE_MS, steadyMs: () => 0 });
  expect(await startedTicks(workflow)).toEqual(Array.from({ length: 20 }, (_, i) => start + i * MINUTE_MS));
});

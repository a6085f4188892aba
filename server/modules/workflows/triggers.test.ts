import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { publishEvents } from '../../platform/outbox/index.ts';
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
  const ticks = rows.map(({ tick }) => Date.parse(tick));
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

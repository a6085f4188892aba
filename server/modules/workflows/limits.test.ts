import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DEVELOPER, node, WorkflowBench } from '../../testing/workflow-bench.ts';
import { listRuns } from './read-runs.ts';
import { StepError } from './nodes/node-type.ts';
import { newRun } from './new-run.ts';

let bench: WorkflowBench;

beforeEach(async () => {
  bench = await WorkflowBench.open();
});
afterEach(() => bench.close());

const LINE = [
  { from: 'a', to: 'b' },
  { from: 'b', to: 'c' },
];
const MB = 1024 * 1024;
/** A long run by hand sets QUEUED_RUNS. */
const QUEUED_RUNS = Number(process.env['QUEUED_RUNS'] ?? 2000);
const large = () => 'x'.repeat(7 * MB);

test('a run that takes too long fails, says so once, and begins nothing more', async () => {
  bench.acts['b'] = () => new Promise(() => undefined);
  const workflows = await bench.work({ RUN_MAX_MINUTES: 0.01 });
  const workflow = await bench.create([node('a'), node('b', { onError: 'continue' }), node('c')], LINE);
  const runId = await bench.start(workflows, workflow);
  const run = await bench.ended(workflow, runId);
  expect(run).toMatchObject({ status: 'failed', error: 'The run took longer than 0.01 minutes.' });
  expect(run.stepResults).toMatchObject([
    { nodeId: 'a', status: 'success' },
    { nodeId: 'b', status: 'failed', error: 'The run took longer than 0.01 minutes.' },
  ]);
  expect(bench.begun.some((id) => id.includes(':c:'))).toBe(false);
  expect(await bench.eventsOf(runId)).toMatchObject([{ type: 'workflow.failed' }]);
});

test('the pause before another attempt ends with the time of the run', async () => {
  bench.acts['a'] = () => Promise.reject(new StepError('not now'));
  const workflows = await bench.work({ RUN_MAX_MINUTES: 0.01 });
  const workflow = await bench.create([node('a', { retry: { attempts: 9, backoffMs: 3_600_000 } })]);
  const run = await bench.ended(workflow, await bench.start(workflows, workflow));
  expect(run).toMatchObject({ status: 'failed', error: 'The run took longer than 0.01 minutes.' });
  expect(bench.begun).toHaveLength(1);
});

test('the time of a run counts from its beginning, wherever it goes on', async () => {
  bench.acts['a'] = () => new Promise(() => undefined);
  const workflow = await bench.create([node('a')]);
  const waiting = bench.workflows();
  const runId = await bench.start(waiting, workflow);
  await waiting.close();
  await bench.db.query({
    text: `update workflow_runs set status = 'running', started_at = now() - interval '61 minutes', lease_owner = 'gone'`,
  });
  await bench.work();
  expect(await bench.ended(workflow, runId)).toMatchObject({ error: 'The run took longer than 60 minutes.' });
});

test('results that are too many together fail the run, with the step that went too far', async () => {
  bench.acts = { a: large, b: large, c: large, d: large, e: large };
  const workflows = await bench.work();
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
  const edges = ids.slice(1).map((to, index) => ({ from: ids[index] ?? '', to }));
  const workflow = await bench.create(
    ids.map((id) => node(id)),
    edges,
  );
  const run = await bench.ended(workflow, await bench.start(workflows, workflow));
  expect(run).toMatchObject({ status: 'failed', error: 'The results of the run exceed 32 MB.' });
  expect(run.stepResults.map(({ nodeId }) => nodeId)).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test.each([
  ['is too large', () => 'x'.repeat(9 * MB), /^Step "a": The result is too large: \d+ characters of JSON\.$/],
  [
    'is nested too deeply',
    () => JSON.parse('['.repeat(3000) + ']'.repeat(3000)) as unknown,
    /^Step "a": The result is nested too deeply\.$/,
  ],
])('a result that %s fails its step', async (_name, act, error) => {
  bench.acts['a'] = act;
  const workflows = await bench.work();
  const workflow = await bench.create([node('a')]);
  const run = await bench.ended(workflow, await bench.start(workflows, workflow));
  expect(run.status).toBe('failed');
  expect(run.error).toMatch(error);
});

test('a page of runs with large results ends early, and the next ones hold the rest', async () => {
  bench.acts['a'] = large;
  const workflows = await bench.work();
  const workflow = await bench.create([node('a')]);
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push((await bench.ended(workflow, await bench.start(workflows, workflow)))._id);
  const seen: string[][] = [];
  for (let cursor: string | undefined; seen.length === 0 || cursor !== undefined;) {
    const page = await listRuns(
      bench.db,
      { developerId: DEVELOPER, workflowId: workflow.id },
      cursor === undefined ? {} : { cursor },
    );
    seen.push(page.runs.map(({ _id }) => _id));
    cursor = page.nextCursor;
  }
  expect(seen.map((page) => page.length)).toEqual([2, 2, 1]);
  expect(seen.flat()).toEqual(ids.toReversed());
});

test(
  'a single run of another developer does not wait for thousands, nor for those that hang',
  { timeout: 120_000 },
  async () => {
    const gate = Promise.withResolvers<void>();
    bench.acts['slow'] = () => gate.promise;
    const workflows = await bench.work();
    const many = await bench.create([node('slow')]);
    const other = await bench.create([node('a')], [], { developerId: 'dev_2' });
    await Promise.all(Array.from({ length: QUEUED_RUNS }, () => bench.start(workflows, many)));
    const run = newRun(other, { triggeredBy: 'api', triggerData: {}, depth: 0 });
    await workflows.starter.start(run);
    const statuses = (workflowId: string) =>
      bench.rows(
        'select status, count(*)::int as count from workflow_runs where workflow_id = $1 group by 1 order by 1',
        [workflowId],
      );
    await expect.poll(() => statuses(other.id)).toEqual([{ status: 'completed', count: 1 }]);
    // And one that is written by a process which works on no runs.
    const outside = bench.workflows();
    await outside.starter.start(newRun(other, { triggeredBy: 'api', triggerData: {}, depth: 0 }));
    await outside.close();
    await expect.poll(() => statuses(other.id)).toEqual([{ status: 'completed', count: 2 }]);
    expect((await statuses(many.id)).every(({ status }) => status !== 'completed')).toBe(true);
    gate.resolve();
    await expect
      .poll(() => statuses(many.id), { timeout: 90_000, interval: 100 })
      .toEqual([{ status: 'completed', count: QUEUED_RUNS }]);
    const ends = await bench.rows(
      `select count(*)::int as events, count(distinct data ->> 'runId')::int as runs from outbox_events
      where type = 'workflow.completed'`,
    );
    expect(ends).toEqual([{ events: QUEUED_RUNS + 2, runs: QUEUED_RUNS + 2 }]);
  },
);

test('a process that was cut off for longer than its leases goes on with its runs, each step once', async () => {
  const gate = Promise.withResolvers<void>();
  bench.acts['b'] = () => gate.promise.then(() => 'b');
  const workflows = await bench.work();
  const workflow = await bench.create([node('a'), node('b'), node('c')], LINE);
  const runId = await bench.start(workflows, workflow);
  await expect.poll(() => bench.begun).toHaveLength(2);
  await bench.db.query({ text: `update workflow_runs set lease_until = now() - interval '1 minute'` });
  // Longer than it takes to look for runs that wait: this process does, too.
  await sleep(2500);
  gate.resolve();
  expect(await bench.ended(workflow, runId)).toMatchObject({ status: 'completed' });
  expect(bench.begun).toEqual([`${runId}:a:1`, `${runId}:b:1`, `${runId}:c:1`]);
});

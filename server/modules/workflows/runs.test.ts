import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { WorkflowEdge, WorkflowNode } from '../../../contract/routes/workflows.ts';
import { cancelRun } from './cancel-run.ts';
import { StepError } from './nodes/node-type.ts';
import { retryRun } from './retry-run.ts';
import { DEVELOPER, node, WorkflowBench } from '../../testing/workflow-bench.ts';

let bench: WorkflowBench;

beforeEach(async () => {
  bench = await WorkflowBench.open();
});
afterEach(() => bench.close());

const LINE: [WorkflowNode[], WorkflowEdge[]] = [
  [node('a'), node('b', { config: { text: 'got {{a.result}} for {{trigger.data.who}}' } }), node('c')],
  [
    { from: 'a', to: 'b' },
    { from: 'b', to: 'c' },
  ],
];

test('steps run in order, see what came before, and end in one event', async () => {
  bench.acts['b'] = (_step, config) => config['text'];
  const workflows = await bench.work();
  const workflow = await bench.create(...LINE);
  const runId = await bench.start(workflows, workflow, { who: '李雷' });
  expect(await bench.ended(workflow, runId)).toMatchObject({
    status: 'completed',
    triggeredBy: 'api',
    stepResults: [
      { nodeId: 'a', status: 'success', result: 'a' },
      { nodeId: 'b', status: 'success', result: 'got a for 李雷' },
      { nodeId: 'c', status: 'success', result: 'c' },
    ],
  });
  expect(await bench.eventsOf(runId)).toMatchObject([
    { type: 'workflow.completed', data: { workflowId: workflow.id, workflowName: 'Test', status: 'completed' } },
  ]);
});

test('a run is shown as running while its first step is under way, since before that began', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  bench.acts['a'] = () => promise;
  const workflows = await bench.work();
  const workflow = await bench.create([node('a')]);
  const runId = await bench.start(workflows, workflow);
  await expect.poll(() => bench.begun).toHaveLength(1);
  expect(await bench.read(workflow, runId)).toMatchObject({ status: 'running', startedAt: expect.any(String) });
  resolve('done');
  const { startedAt = '', stepResults, completedAt = '' } = await bench.ended(workflow, runId);
  const times = [startedAt, stepResults[0]?.startedAt ?? '', stepResults[0]?.completedAt ?? '', completedAt];
  expect(times).toEqual(times.toSorted());
});

test('a workflow without nodes completes', async () => {
  const workflows = await bench.work();
  const workflow = await bench.create([]);
  expect(await bench.ended(workflow, await bench.start(workflows, workflow))).toMatchObject({
    status: 'completed',
    stepResults: [],
  });
});

test('branches run at the same time, and the one not taken is skipped', async () => {
  const together = Promise.withResolvers<void>();
  let waiting = 0;
  const meet = async () => {
    if (++waiting === 2) together.resolve();
    await together.promise;
    return 'met';
  };
  bench.acts = { left: meet, right: meet, if: () => false };
  const workflows = await bench.work();
  const workflow = await bench.create(
    [node('left'), node('right'), node('if', { type: 'condition' }), node('yes'), node('no'), node('join')],
    [
      { from: 'left', to: 'if' },
      { from: 'right', to: 'if' },
      { from: 'if', to: 'yes', condition: 'true' },
      { from: 'if', to: 'no', condition: 'false' },
      { from: 'yes', to: 'join' },
      { from: 'no', to: 'join' },
    ],
  );
  const run = await bench.ended(workflow, await bench.start(workflows, workflow));
  const statuses = Object.fromEntries(run.stepResults.map(({ nodeId, status }) => [nodeId, status]));
  expect(run.status).toBe('completed');
  expect(statuses).toEqual({
    left: 'success',
    right: 'success',
    if: 'success',
    yes: 'skipped',
    no: 'success',
    join: 'success',
  });
});

test('a step is tried again as often as it may be, each attempt with an id of its own', async () => {
  let attempts = 0;
  bench.acts['a'] = () => {
    if (++attempts < 3) throw new StepError('not yet');
    return attempts;
  };
  const workflows = await bench.work();
  const workflow = await bench.create([node('a', { retry: { attempts: 3, backoffMs: 1 } })]);
  const runId = await bench.start(workflows, workflow);
  expect(await bench.ended(workflow, runId)).toMatchObject({ status: 'completed', stepResults: [{ result: 3 }] });
  expect(bench.begun).toEqual([`${runId}:a:1`, `${runId}:a:2`, `${runId}:a:3`]);
});

test('a step that fails ends the run with its reason, and steps beside it keep their results', async () => {
  bench.acts = { bad: () => Promise.reject(new StepError('it is broken')), slow: () => sleep(100).then(() => 'done') };
  const workflows = await bench.work();
  const workflow = await bench.create([node('bad'), node('slow'), node('after')], [{ from: 'slow', to: 'after' }]);
  const runId = await bench.start(workflows, workflow);
  const run = await bench.ended(workflow, runId);
  expect(run).toMatchObject({ status: 'failed', error: 'Step "bad": it is broken' });
  expect(run.stepResults).toMatchObject([
    { nodeId: 'bad', status: 'failed', error: 'it is broken' },
    { nodeId: 'slow', status: 'success', result: 'done' },
  ]);
  expect(await bench.eventsOf(runId)).toMatchObject([
    { type: 'workflow.failed', data: { error: 'Step "bad": it is broken' } },
  ]);
});

test('a failed step whose onError is continue is passed over, and tells what went wrong', async () => {
  bench.acts = { bad: () => Promise.reject(new StepError('no')), next: (_step, config) => config['why'] };
  const workflows = await bench.work();
  const workflow = await bench.create(
    [node('bad', { onError: 'continue' }), node('next', { config: { why: '{{bad.result.error}}' } })],
    [{ from: 'bad', to: 'next' }],
  );
  expect(await bench.ended(workflow, await bench.start(workflows, workflow))).toMatchObject({
    status: 'completed',
    stepResults: [{ status: 'failed' }, { status: 'success', result: 'no' }],
  });
});

test('a step that takes longer than it may is given up', async () => {
  bench.acts['a'] = () => new Promise(() => undefined);
  const workflows = await bench.work();
  const workflow = await bench.create([node('a', { timeoutMs: 50 })]);
  const run = await bench.ended(workflow, await bench.start(workflows, workflow));
  expect(run.error).toBe('Step "a": The step took longer than 50 ms.');
});

test('a fault of ours is not shown', async () => {
  bench.acts['a'] = () => Promise.reject(new TypeError('secret of the house'));
  const workflows = await bench.work();
  const workflow = await bench.create([node('a')]);
  const run = await bench.ended(workflow, await bench.start(workflows, workflow));
  expect(run.error).toBe('Step "a": The step failed for a fault of the service.');
});

test('a run whose process is lost goes on elsewhere; what was finished is not run again, and the late one is refused', async () => {
  const gate = Promise.withResolvers<void>();
  let bs = 0;
  bench.acts['b'] = async () => {
    if (++bs === 1) await gate.promise;
    return `b of attempt ${bs}`;
  };
  const workflows = await bench.work();
  const workflow = await bench.create(...LINE);
  const runId = await bench.start(workflows, workflow, { who: 'x' });
  await expect.poll(() => bs).toBe(1);
  await bench.work();
  // As if the process had stopped renewing its lease.
  await bench.db.query({
    text: `update workflow_runs set lease_until = now() - interval '1 second', lease_owner = 'gone'`,
  });
  expect(await bench.ended(workflow, runId)).toMatchObject({ status: 'completed' });
  gate.resolve();
  await sleep(100);
  const run = await bench.read(workflow, runId);
  expect(run.stepResults.map(({ nodeId, result }) => [nodeId, result])).toEqual([
    ['a', 'a'],
    ['b', 'b of attempt 2'],
    ['c', 'c'],
  ]);
  expect(bench.begun.filter((id) => id.includes(':a:'))).toHaveLength(1);
  expect(bench.begun.filter((id) => id.includes(':b:'))).toEqual([`${runId}:b:1`, `${runId}:b:1`]);
  expect(await bench.eventsOf(runId)).toHaveLength(1);
});

test('a stop lets the step under way end, and the run goes on elsewhere', async () => {
  const first = bench.workflows();
  const work = await first.startWork();
  const workflow = await bench.create(...LINE);
  bench.acts['a'] = () => sleep(100).then(() => 'slow');
  const runId = await bench.start(first, workflow);
  await expect.poll(() => bench.begun).toHaveLength(1);
  await work.stop();
  await first.close();
  expect((await bench.read(workflow, runId)).stepResults).toMatchObject([{ nodeId: 'a', result: 'slow' }]);
  await bench.work();
  expect(await bench.ended(workflow, runId)).toMatchObject({ status: 'completed' });
  expect(bench.begun).toHaveLength(3);
});

test('many runs over two processes and breaking connections end once each', { timeout: 60_000 }, async () => {
  const workflows = await bench.work();
  const other = await bench.work();
  const workflow = await bench.create(...LINE);
  const runs: Promise<string>[] = [];
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 40; i++) runs.push(bench.start(i % 2 === 0 ? workflows : other, workflow));
    await sleep(20);
    await bench.home.breakConnections();
  }
  const ids = await Promise.all(runs);
  for (const id of ids) expect(await bench.ended(workflow, id)).toMatchObject({ status: 'completed' });
  const { rows } = await bench.db.query<{ count: number }>({
    text: `select count(*)::int as count from outbox_events where type = 'workflow.completed'`,
  });
  expect(rows[0]?.count).toBe(200);
});

test('a cancelled run ends as failed at once, wherever it works, and once', async () => {
  let hasAborted = false;
  bench.acts['a'] = ({ ctx }) =>
    new Promise((_resolve, reject) => {
      ctx.signal.addEventListener('abort', () => {
        hasAborted = true;
        reject(new Error('aborted'));
      });
    });
  const workflows = await bench.work();
  const workflow = await bench.create([node('a')]);
  const runId = await bench.start(workflows, workflow);
  await expect.poll(() => bench.begun).toHaveLength(1);
  const key = { developerId: DEVELOPER, workflowId: workflow.id, runId };
  await cancelRun(bench.db, key);
  expect(await bench.read(workflow, runId)).toMatchObject({ status: 'failed', error: 'The run was cancelled.' });
  await expect.poll(() => hasAborted).toBe(true);
  await expect(cancelRun(bench.db, key)).rejects.toMatchObject({ code: 'CONFLICT' });
  expect(await bench.eventsOf(runId)).toHaveLength(1);
});

test('a retry keeps what succeeded and runs the rest', async () => {
  let isBroken = true;
  bench.acts['b'] = () => {
    if (isBroken) throw new StepError('not now');
    return 'b';
  };
  const workflows = await bench.work();
  const workflow = await bench.create(...LINE);
  const runId = await bench.start(workflows, workflow);
  await bench.ended(workflow, runId);
  isBroken = false;
  const key = { developerId: DEVELOPER, workflowId: workflow.id, runId };
  const newId = await retryRun(bench.db, key);
  expect(await bench.ended(workflow, newId)).toMatchObject({
    status: 'completed',
    stepResults: [{ nodeId: 'a' }, {}, {}],
  });
  expect(bench.begun.filter((id) => id.includes(':a:'))).toHaveLength(1);
  await expect(retryRun(bench.db, { ...key, runId: newId })).rejects.toMatchObject({ code: 'CONFLICT' });
});

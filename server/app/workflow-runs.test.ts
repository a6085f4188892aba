import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { pick, pickText, startTestApp, type TestApp } from '../testing/start-test-app.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../testing/webhook-receiver.ts';

let app: TestApp;
let target: WebhookReceiver;
let developer: { id: string; key: string };

beforeAll(async () => {
  app = await startTestApp();
  target = await startWebhookReceiver();
});
afterAll(async () => {
  await app.stop();
  await target.stop();
});
beforeEach(async () => {
  developer = await app.createDeveloper();
  target.answer = { status: 200 };
});

function call(method: string, path: string, body?: unknown) {
  return app.call(method, path, { key: developer.key, body });
}

async function create(definition: object): Promise<string> {
  const { status, body } = await call('POST', '/v1/workflows', { name: 'Test', ...definition });
  expect(status).toBe(201);
  return `/v1/workflows/${pickText(body, '_id')}`;
}

async function start(workflow: string, data: object = {}): Promise<string> {
  return `${workflow}/runs/${pickText((await call('POST', `${workflow}/run`, { data })).body, 'runId')}`;
}

async function ended(run: string): Promise<unknown> {
  await expect.poll(async () => pick((await call('GET', run)).body, 'status')).toMatch(/completed|failed/);
  return (await call('GET', run)).body;
}

async function runsOf(workflow: string): Promise<unknown[]> {
  const runs = pick((await call('GET', `${workflow}/runs`)).body, 'runs');
  return Array.isArray(runs) ? runs : [];
}

/** Two steps in a row at the target, whose paths nothing else asks for. */
function twoSteps(name: string) {
  const node = (id: string) => ({ id, type: 'http-request', config: { url: `${target.url}/${name}/${id}` } });
  return { nodes: [node('a'), node('b')], edges: [{ from: 'a', to: 'b' }] };
}

function visits(path: string): number {
  return target.received.filter((request) => request.path === path).length;
}

/** A run whose second step hangs. */
async function startHanging(name: string): Promise<{ workflow: string; run: string }> {
  target.answer = ({ path }) => (path.endsWith('/b') ? 'hang' : { status: 200 });
  const workflow = await create(twoSteps(name));
  const run = await start(workflow);
  await expect.poll(() => visits(`/${name}/b`)).toBe(1);
  return { workflow, run };
}

test('a run under way is running; a cancel fails it at once and once, and keeps what was finished', async () => {
  const hook = await startWebhookReceiver();
  await call('POST', '/v1/events/webhooks', { event: 'workflow.failed', url: hook.url });
  const { run } = await startHanging('cancel');
  expect((await call('GET', run)).body).toMatchObject({
    status: 'running',
    stepResults: [{ nodeId: 'a', status: 'success' }],
  });
  const failed = {
    status: 'failed',
    error: 'The run was cancelled.',
    stepResults: [{ nodeId: 'a', status: 'success' }],
    completedAt: expect.any(String),
  };
  expect(await call('POST', `${run}/cancel`)).toMatchObject({ status: 200, body: failed });
  expect(await call('POST', `${run}/cancel`)).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
  expect((await call('GET', run)).body).toMatchObject(failed);
  await expect.poll(() => hook.received.length).toBe(1);
  expect(JSON.parse(hook.received[0]?.body.toString() ?? '')).toMatchObject({
    event: 'workflow.failed',
    data: { workflowName: 'Test', runId: run.split('/').at(-1), error: 'The run was cancelled.' },
  });
  await hook.stop();
});

test('a retry of a cancelled run begins with the step that had not finished; one of a completed run is refused', async () => {
  const { workflow, run } = await startHanging('retry');
  await call('POST', `${run}/cancel`);
  target.answer = { status: 200 };
  const { body } = await call('POST', `${run}/retry`);
  const again = `${workflow}/runs/${pickText(body, 'runId')}`;
  expect(await ended(again)).toMatchObject({ status: 'completed' });
  expect([visits('/retry/a'), visits('/retry/b')]).toEqual([1, 2]);
  expect(await call('POST', `${again}/retry`)).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
});

test('a run keeps the definition it began with, and so does its retry', async () => {
  const { workflow, run } = await startHanging('change');
  expect((await call('PUT', workflow, { nodes: [], edges: [] })).status).toBe(200);
  await call('POST', `${run}/cancel`);
  target.answer = { status: 200 };
  const { body } = await call('POST', `${run}/retry`);
  expect(await ended(`${workflow}/runs/${pickText(body, 'runId')}`)).toMatchObject({
    status: 'completed',
    stepResults: [{ nodeId: 'a' }, { nodeId: 'b' }],
  });
  expect(await ended(await start(workflow))).toMatchObject({ status: 'completed', stepResults: [] });
});

test('a workflow is deleted with its runs, the one under way too', async () => {
  const { workflow, run } = await startHanging('delete');
  expect(await call('DELETE', workflow)).toMatchObject({ status: 200, body: { success: true } });
  for (const path of [workflow, `${workflow}/runs`, run]) expect((await call('GET', path)).status).toBe(404);
  expect((await call('POST', `${run}/cancel`)).status).toBe(404);
});

test('a page has twenty runs when no limit is given', async () => {
  const workflow = await create({});
  const runs = await Promise.all(Array.from({ length: 21 }, () => start(workflow)));
  await Promise.all(runs.map(ended));
  const { body } = await call('GET', `${workflow}/runs`);
  expect(pick(body, 'runs')).toHaveLength(20);
  const { body: rest } = await call('GET', `${workflow}/runs?cursor=${pickText(body, 'nextCursor')}`);
  expect(pick(rest, 'runs')).toHaveLength(1);
  expect(rest).not.toHaveProperty('nextCursor');
});

test('an event that passes the filter starts a run with its data', async () => {
  const execution = { type: 'http', method: 'GET', url: `${target.url}/tool` };
  const schema = { type: 'object', properties: { city: { type: 'string' } } };
  await call('POST', '/v1/tools', { name: 'weather', description: 'x', input_schema: schema, execution });
  const trigger = { type: 'event', event: 'tool.executed', filter: { toolName: 'weather', 'input.city': ['Paris'] } };
  const workflow = await create({ ...twoSteps('event'), trigger });
  for (const city of ['Rome', 'Paris']) {
    expect((await call('POST', '/v1/ai/tool-call', { tool: 'weather', input: { city } })).status).toBe(200);
  }
  await expect
    .poll(() => runsOf(workflow))
    .toEqual([
      expect.objectContaining({
        status: 'completed',
        triggeredBy: 'event',
        triggerData: expect.objectContaining({ toolName: 'weather', input: { city: 'Paris' } }),
      }),
    ]);
});

test.each([
  ['PUT', ''],
  ['DELETE', ''],
  ['POST', '/run'],
  ['POST', '/runs/run_x/cancel'],
  ['POST', '/runs/run_x/retry'],
])('a key that may only read may not %s %s', async (method, path) => {
  const workflow = await create({});
  const { body } = await call('POST', '/v1/auth/api-keys', { name: 'Reader', permissions: ['read'] });
  const key = pickText(body, 'key');
  const answer = await app.call(method, `${workflow}${path}`, { key, ...(method !== 'DELETE' && { body: {} }) });
  expect(answer).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } });
  expect((await app.call('GET', `${workflow}/runs`, { key })).status).toBe(200);
});

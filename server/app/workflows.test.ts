import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
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
  target.answer = { status: 200, body: '{"state":"shipped"}', headers: { 'content-type': 'application/json' } };
});

function call(method: string, path: string, body?: unknown) {
  return app.call(method, path, { key: developer.key, body });
}

async function create(more: object = {}): Promise<string> {
  const { status, body } = await call('POST', '/v1/workflows', { name: 'Report', ...more });
  expect(status).toBe(201);
  return pickText(body, '_id');
}

/** Runs a workflow; gives the run when it has ended. */
async function run(id: string, data?: object): Promise<unknown> {
  const { status, body } = await call('POST', `/v1/workflows/${id}/run`, data === undefined ? {} : { data });
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: 'pending', message: expect.any(String) });
  const path = `/v1/workflows/${id}/runs/${pickText(body, 'runId')}`;
  await expect.poll(async () => pick((await call('GET', path)).body, 'status')).toMatch(/completed|failed/);
  return (await call('GET', path)).body;
}

const NODES = [
  { id: 'order', type: 'tool-call', config: { tool: 'get_order', input: { orderId: '{{trigger.data.orderId}}' } } },
  { id: 'isShipped', type: 'condition', config: { left: '{{order.result.state}}', operator: '==', right: 'shipped' } },
  {
    id: 'tell',
    type: 'http-request',
    config: {
      method: 'POST',
      url: 'URL/tell',
      body: { text: 'Order {{trigger.data.orderId}}: {{order.result.state}}' },
    },
  },
  { id: 'wait', type: 'http-request', config: { url: 'URL/wait' } },
];
const EDGES = [
  { from: 'order', to: 'isShipped' },
  { from: 'isShipped', to: 'tell', condition: 'true' },
  { from: 'isShipped', to: 'wait', condition: 'false' },
];

async function createReport(): Promise<string> {
  const execution = { type: 'http', method: 'GET', url: `${target.url}/orders/{orderId}` };
  await call('POST', '/v1/tools', { name: 'get_order', description: 'Reads an order.', execution });
  const text = JSON.stringify(NODES).replaceAll('URL', target.url);
  return create({ nodes: JSON.parse(text), edges: EDGES });
}

test('created, read, listed, changed and deleted', async () => {
  const { body } = await call('POST', '/v1/workflows', { name: 'Report', description: 'Daily' });
  const id = pickText(body, '_id');
  expect(body).toMatchObject({
    id,
    userId: developer.id,
    name: 'Report',
    description: 'Daily',
    trigger: { type: 'manual' },
    nodes: [],
    edges: [],
    enabled: true,
    source: 'api',
  });
  expect((await call('GET', `/v1/workflows/${id}`)).body).toEqual(body);
  const { body: list } = await call('GET', '/v1/workflows');
  expect(list).toMatchObject({ workflows: [{ _id: id, enabled: true, source: 'api' }], total: 1 });
  expect(Object.keys(pick(list, 'workflows', 0) ?? {}).toSorted()).toEqual(
    ['_id', 'description', 'enabled', 'name', 'source', 'trigger', 'updatedAt'].toSorted(),
  );
  const changed = await call('PUT', `/v1/workflows/${id}`, { enabled: false, name: 'Other' });
  expect(changed.body).toMatchObject({ name: 'Other', description: 'Daily', enabled: false });
  expect((await call('DELETE', `/v1/workflows/${id}`)).body).toEqual({ success: true });
  expect((await call('GET', `/v1/workflows/${id}`)).status).toBe(404);
});

test('pages hold every workflow once, newest first', async () => {
  const ids = [await create(), await create(), await create()];
  const first = await call('GET', '/v1/workflows?limit=2');
  const cursor = pickText(first.body, 'nextCursor');
  const second = await call('GET', `/v1/workflows?limit=2&cursor=${cursor}`);
  const seen = [first, second].flatMap(({ body }) => pick(body, 'workflows'));
  expect(seen).toMatchObject(ids.toReversed().map((_id) => ({ _id })));
  expect(pick(second.body, 'total')).toBe(3);
});

test.each([
  ['no name', {}, 'name'],
  ['an unknown type of node', { name: 'x', nodes: [{ id: 'a', type: 'shell' }] }, 'nodes'],
  [
    'an edge into nothing',
    { name: 'x', nodes: [{ id: 'a', type: 'condition' }], edges: [{ from: 'a', to: 'b' }] },
    'edges[0].to',
  ],
  ['an unknown trigger', { name: 'x', trigger: { type: 'moon' } }, 'trigger'],
  ['a broken schedule', { name: 'x', trigger: { type: 'cron', schedule: '99 * * * *' } }, 'trigger.schedule'],
  ['an unknown event', { name: 'x', trigger: { type: 'event', event: 'no.such' } }, 'trigger'],
])('%s is refused by name', async (_name, body, field) => {
  const { status, body: answer } = await call('POST', '/v1/workflows', body);
  expect(status).toBe(400);
  expect(pickText(answer, 'error', 'message')).toContain(field);
});

test('a run calls tools and addresses, takes a branch, and tells of its end', async () => {
  const hook = await startWebhookReceiver();
  await call('POST', '/v1/events/webhooks', { event: 'workflow.completed', url: hook.url });
  const id = await createReport();
  const ended = await run(id, { orderId: '4711' });
  expect(ended).toMatchObject({
    workflowId: id,
    status: 'completed',
    triggeredBy: 'api',
    triggerData: { orderId: '4711' },
    stepResults: [
      { nodeId: 'order', status: 'success', result: { state: 'shipped' } },
      { nodeId: 'isShipped', status: 'success', result: true },
      { nodeId: 'wait', status: 'skipped' },
      { nodeId: 'tell', status: 'success', result: { status: 200, body: { state: 'shipped' } } },
    ],
  });
  const told = target.received.find(({ path }) => path === '/tell');
  expect(JSON.parse(told?.body.toString() ?? '')).toEqual({ text: 'Order 4711: shipped' });
  expect(told?.headers['idempotency-key']).toBe(`${pickText(ended, '_id')}:tell:1`);
  await expect.poll(() => hook.received.length).toBe(1);
  expect(JSON.parse(hook.received[0]?.body.toString() ?? '')).toMatchObject({
    event: 'workflow.completed',
    data: { workflowId: id, workflowName: 'Report', status: 'completed' },
  });
  await hook.stop();
});

test('a step that fails says why, and a retry goes on from it', async () => {
  const id = await createReport();
  target.answer = ({ path }) => (path === '/tell' ? { status: 503 } : { status: 200, body: '{"state":"shipped"}' });
  const failed = await run(id, { orderId: '1' });
  expect(failed).toMatchObject({ status: 'failed', error: expect.stringContaining('Step "tell": HTTP 503') });
  target.answer = { status: 200 };
  const { body } = await call('POST', `/v1/workflows/${id}/runs/${pickText(failed, '_id')}/retry`);
  const path = `/v1/workflows/${id}/runs/${pickText(body, 'runId')}`;
  await expect.poll(async () => pick((await call('GET', path)).body, 'status')).toBe('completed');
});

test.each([
  [{ id: 'a', type: 'tool-call', config: { tool: 'no_such' } }, 'There is no tool named "no_such".'],
  [{ id: 'a', type: 'http-request', config: { url: 'http://127.0.0.1:1/' } }, ''],
  [{ id: 'a', type: 'http-request', config: {} }, 'config.url is missing.'],
  [{ id: 'a', type: 'ai-generate', config: { prompt: '{{nobody.result}}' } }, 'there is no step "nobody"'],
  [{ id: 'a', type: 'ai-generate', config: { prompt: 'Hello' } }, 'AI_DEFAULT_API_KEY'],
  [{ id: 'a', type: 'email-send', config: { to: 'a@b.example', subject: 's', body: 'b' } }, 'SMTP_URL'],
])('the run of %j fails with the reason', async (node, reason) => {
  const id = await create({ nodes: [node] });
  expect(await run(id)).toMatchObject({
    status: 'failed',
    error: expect.stringContaining(reason),
    stepResults: [{ nodeId: 'a', status: 'failed' }],
  });
});

test('runs are listed newest first, by page and by status', async () => {
  const id = await create();
  const runs = [await run(id), await run(id), await run(id)].map((each) => pickText(each, '_id'));
  const { body } = await call('GET', `/v1/workflows/${id}/runs`);
  expect(pick(body, 'runs')).toMatchObject(runs.toReversed().map((_id) => ({ _id, status: 'completed' })));
  const page = await call('GET', `/v1/workflows/${id}/runs?limit=2`);
  const rest = await call('GET', `/v1/workflows/${id}/runs?limit=2&cursor=${pickText(page.body, 'nextCursor')}`);
  expect(rest.body).toEqual({ runs: [expect.objectContaining({ _id: runs[0] })] });
  expect((await call('GET', `/v1/workflows/${id}/runs?status=failed`)).body).toEqual({ runs: [] });
});

test('a disabled workflow still runs by API', async () => {
  const id = await create();
  await call('PUT', `/v1/workflows/${id}`, { enabled: false });
  expect(await run(id)).toMatchObject({ status: 'completed' });
});

/** What the API says of a workflow, its problems as texts. */
async function validate(definition: object) {
  const { status, body } = await call('POST', '/v1/workflows/validate', { name: 'x', ...definition });
  expect(status).toBe(200);
  const shown = (field: string) => {
    const list = pick(body, field);
    return Array.isArray(list) ? list.map((each) => `${pickText(each, 'path')}: ${pickText(each, 'message')}`) : [];
  };
  return { valid: pick(body, 'valid'), problems: shown('problems'), warnings: shown('warnings') };
}

describe('validate', () => {
  test('tells every problem of the structure and saves nothing', async () => {
    const outcome = await validate({
      trigger: { type: 'cron', schedule: '61 * * * *' },
      nodes: [{ id: 'a', type: 'condition', config: { left: 1, operator: '==', right: 1 } }],
      edges: [{ from: 'a', to: 'b' }],
    });
    expect(outcome).toEqual({
      valid: false,
      problems: [expect.stringContaining('trigger.schedule: "61 * * * *"'), 'edges[0].to: There is no node "b".'],
      warnings: [],
    });
    expect(pick((await call('GET', '/v1/workflows')).body, 'total')).toBe(0);
  });

  test.each([
    [{ type: 'tool-call', config: { tool: 'no_such' } }, 'config.tool: There is no tool named "no_such".'],
    [
      { type: 'tool-call', config: { tool: '{{trigger.data.tool}}', input: 'x' } },
      'config.input: config.input must be',
    ],
    [{ type: 'condition', config: { left: 1, operator: '=~', right: 1 } }, 'config.operator: config.operator must be'],
    [{ type: 'condition', config: { expression: '1 +' } }, 'config.expression: The expression cannot be read'],
    [{ type: 'condition', config: { expression: 'nobody.result > 1' } }, 'Unknown variable: nobody'],
    [{ type: 'condition', config: { expression: 'beside.result > 1' } }, 'Unknown variable: beside'],
    [{ type: 'condition', config: { expression: 'size("abc")' } }, 'must come to true or false; it comes to int'],
    [
      { type: 'condition', config: { expression: 'fetch("http://x")' } },
      'The expression calls fetch, which there is not',
    ],
    [{ type: 'http-request', config: {} }, 'config.url: config.url is missing.'],
    [{ type: 'http-request', config: { url: 'ftp://x.example/' } }, 'config.url: Only http and https'],
    [{ type: 'http-request', config: { url: 'http://u:p@x.example/' } }, 'must not contain a user name or password'],
    [{ type: 'http-request', config: { url: 'http://x.example/', headers: { a: [] } } }, 'config.headers.a must be'],
    [{ type: 'ai-generate', config: {} }, 'config.prompt: config.prompt is missing.'],
    [{ type: 'ai-generate', config: { prompt: '{{nobody.result}}' } }, '{{nobody.result}}: there is no step "nobody".'],
    [{ type: 'ai-generate', config: { prompt: '{{beside.result}}' } }, 'no edges lead from the step "beside" to this'],
    [{ type: 'ai-generate', config: { prompt: '{{before.result..x}}' } }, 'is not a path'],
    [{ type: 'ai-generate', config: { prompt: 'x', model: 'no-such' } }, 'config.model: '],
    [{ type: 'ai-generate', config: { prompt: 'x', outputFormat: 'xml' } }, 'config.outputFormat must be one of'],
    [{ type: 'email-send', config: { to: 'nobody', subject: 's', body: 'b' } }, 'config.to: config.to: '],
    [{ type: 'email-send', config: { to: 'a@b.example', body: 'b' } }, 'config.subject is missing.'],
  ])('tells that %j would fail', async (node, problem) => {
    const beside = { id: 'beside', type: 'condition', config: { left: 1, operator: '==', right: 1 } };
    const nodes = [{ ...beside, id: 'before' }, beside, { id: 'it', ...node }];
    const outcome = await validate({ nodes, edges: [{ from: 'before', to: 'it' }] });
    expect(outcome.valid).toBe(false);
    expect(outcome.problems).toHaveLength(1);
    expect(outcome.problems[0]).toContain('nodes[2].config');
    expect(outcome.problems[0]).toContain(problem);
  });

  test('warns of what the service lacks and of names that nobody reads', async () => {
    const mail = { id: 'm', type: 'email-send', config: { to: 'a@b.example', subject: 's', body: 'b' } };
    const ask = { id: 'ask', type: 'ai-generate', config: { promt: 'x', prompt: 'Hello' } };
    expect(await validate({ nodes: [mail, ask] })).toEqual({
      valid: true,
      problems: [],
      warnings: [
        'nodes[0].config: Sending mail needs the setting SMTP_URL.',
        expect.stringContaining('nodes[1].config.model: '),
        expect.stringContaining('nodes[1].config.promt: config.promt is not read'),
      ],
    });
  });

  test('has nothing to say of what is known only when it runs', async () => {
    const outcome = await validate({
      nodes: [
        {
          id: 'a',
          type: 'http-request',
          config: { url: '{{trigger.data.url}}', headers: { a: '{{trigger.data.a}}' } },
        },
        { id: 'b', type: 'condition', config: { expression: 'a.result.body.items.exists(i, i.n > 3)' } },
        { id: 'c', type: 'tool-call', config: { tool: '{{a.result.body["the tool"]}}', input: '{{a.result.body}}' } },
      ],
      edges: [
        { from: 'a', to: 'b' },
        { from: 'b', to: 'c' },
      ],
    });
    expect(outcome).toEqual({ valid: true, problems: [], warnings: [] });
  });
});

describe('a foreign id', () => {
  test('answers as an absent one', async () => {
    const id = await create();
    const runId = pickText(await run(id), '_id');
    const other = await app.createDeveloper();
    const paths: [string, string, object?][] = [
      ['GET', `/v1/workflows/${id}`],
      ['PUT', `/v1/workflows/${id}`, { name: 'mine' }],
      ['DELETE', `/v1/workflows/${id}`],
      ['POST', `/v1/workflows/${id}/run`, {}],
      ['GET', `/v1/workflows/${id}/runs`],
      ['GET', `/v1/workflows/${id}/runs/${runId}`],
      ['POST', `/v1/workflows/${id}/runs/${runId}/cancel`],
      ['POST', `/v1/workflows/${id}/runs/${runId}/retry`],
    ];
    for (const [method, path, body] of paths) {
      const answer = await app.call(method, path, { key: other.key, ...(body && { body }) });
      expect([path, answer.status]).toEqual([path, 404]);
    }
    expect((await call('GET', `/v1/workflows/${id}`)).status).toBe(200);
  });
});

import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { queryRows } from '../testing/query-rows.ts';
import { hello, RawAgent } from '../testing/raw-agent.ts';
import { startAgentApp, type AgentApp } from '../testing/start-agent-app.ts';
import { pick, startTestApp } from '../testing/start-test-app.ts';

let it: AgentApp;
beforeAll(async () => {
  it = await startAgentApp({ HANDLER_TIMEOUT_SECONDS: '2' });
});
afterAll(() => it.stop());
beforeEach(() => it.begin());

function key(): string {
  return it.developer().key;
}

interface Attempt {
  url?: string;
  path?: string;
  protocolVersion?: number;
}

async function refusal(headers: Record<string, string>, attempt: Attempt = {}) {
  const { url = it.app.url, path = '/v1/agents/connect', protocolVersion = 13 } = attempt;
  const socket = new WebSocket(url.replace('http', 'ws') + path, { headers, protocolVersion });
  socket.on('error', () => undefined);
  const [, response] = await once(socket, 'unexpected-response');
  let text = '';
  for await (const part of response) text += String(part);
  return { status: response.statusCode, limit: response.headers['x-ratelimit-limit'], body: JSON.parse(text) };
}

describe('connecting', () => {
  test('without a key, with an unknown one, and without write permission it is refused in JSON', async () => {
    const reader = await it.app.createKey(key(), ['read']);
    const cases: [Record<string, string>, number, string][] = [
      [{}, 401, 'UNAUTHORIZED'],
      [{ 'x-api-key': `tsk_${'a'.repeat(38)}` }, 401, 'UNAUTHORIZED'],
      [{ 'x-api-key': reader.key }, 403, 'FORBIDDEN'],
    ];
    for (const [headers, status, code] of cases) {
      const refused = await refusal(headers);
      expect(refused).toMatchObject({ status, body: { error: { code } } });
      expect(Number(refused.limit)).toBeGreaterThan(0);
    }
  });

  test('a path that is no WebSocket endpoint answers as if it had not been asked to change', async () => {
    expect(await refusal({ 'x-api-key': key() }, { path: '/v1/tools' })).toMatchObject({
      status: 200,
      body: { total: 1 },
    });
    expect(await refusal({ 'x-api-key': key() }, { path: '/v1/nothing' })).toMatchObject({ status: 404 });
  });

  test('the endpoint without the change, or with a malformed one, is refused', async () => {
    expect((await it.app.call('GET', '/v1/agents/connect', { key: key() })).status).toBe(400);
    const odd = await refusal({ 'x-api-key': key() }, { protocolVersion: 8 });
    expect(odd).toMatchObject({ status: 400, body: { error: { code: 'INVALID_REQUEST' } } });
  });

  test('limits and the rule of HTTPS hold for it as for every request', async () => {
    const limited = await it.app.createDeveloper('free');
    for (let left = 10; left > 0; left--) await it.app.call('GET', '/v1/tools', { key: limited.key });
    const over = await refusal({ 'x-api-key': limited.key });
    expect(over).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMITED' } } });

    const proxied = await startTestApp({ TRUST_PROXY: '1', DATABASE_URL: it.app.databaseUrl });
    const plain = await refusal({ 'x-api-key': key() }, { url: proxied.url });
    expect(plain).toMatchObject({ status: 403, body: { error: { message: 'Requests must use HTTPS.' } } });
    await proxied.stop();
  });

  test('a Bearer token does as well; the connection counts as one request and is logged with 101', async () => {
    const before = Number(pick((await it.app.call('GET', '/v1/auth/usage', { key: key() })).body, 'usage', 'today'));
    const agent = new RawAgent(it.app.url, { authorization: `Bearer ${key()}` });
    await once(agent.socket, 'open');
    agent.send(hello(['work']));
    expect(await agent.next('welcome')).toMatchObject({
      agentId: expect.stringMatching(/^agent_/),
      heartbeatMs: 10_000,
    });
    const after = Number(pick((await it.app.call('GET', '/v1/auth/usage', { key: key() })).body, 'usage', 'today'));
    expect(after - before).toBe(2);
    const sql = `select status::int from call_log where developer_id = $1 and endpoint = '/v1/agents/connect'`;
    await expect.poll(() => queryRows(it.app.databaseUrl, sql, [it.developer().id])).toEqual([{ status: 101 }]);
    agent.cut();
  });

  test('is listed while it is connected, to its developer alone', async () => {
    const agent = await it.join(['work', 'other']);
    const listed = await it.app.call('GET', '/v1/agents', { key: key() });
    expect(listed.body).toEqual({
      agents: [
        {
          _id: expect.stringMatching(/^agent_/),
          name: 'raw',
          handlers: ['work', 'other'],
          connectedAt: expect.any(String),
          lastSeenAt: expect.any(String),
        },
      ],
    });
    const stranger = await it.app.createDeveloper();
    expect((await it.app.call('GET', '/v1/agents', { key: stranger.key })).body).toEqual({ agents: [] });
    agent.cut();
    await expect
      .poll(async () => (await it.app.call('GET', '/v1/agents', { key: key() })).body)
      .toEqual({ agents: [] });
  });
});

describe('a call', () => {
  test('without an agent is 404 with the message alone, and an error of a test', async () => {
    expect(await it.callTool()).toMatchObject({ status: 404 });
    expect((await it.callTool()).body).toEqual({ error: { message: expect.stringContaining('desktop agent') } });
    const tried = await it.app.call('POST', '/v1/tools/work/test', { key: key() });
    expect(tried).toMatchObject({ status: 200, body: { status: 'error', elapsed_ms: expect.any(Number) } });
    expect(await it.events()).toEqual([]);
  });

  test('goes to the agent that has its handler, with its input, and its result comes back', async () => {
    const other = await it.join(['something_else']);
    const agent = await it.join();
    const [call, answer] = await Promise.all([agent.answer({ done: [1, null] }), it.callTool({ a: 'ü' })]);
    expect(call).toEqual({
      type: 'call',
      callId: expect.stringMatching(/^call_/),
      handler: 'work',
      input: { a: 'ü' },
      deadlineMs: 2000,
    });
    expect(answer).toMatchObject({ status: 200, body: { status: 'success', result: { done: [1, null] } } });
    expect(other.received).toEqual([]);
    expect(await it.events()).toEqual([
      {
        type: 'tool.executed',
        data: { toolName: 'work', input: { a: 'ü' }, result: { done: [1, null] }, elapsed_ms: expect.any(Number) },
      },
    ]);
  });

  test('passes the same gate as an http tool: input schema, disabled', async () => {
    const agent = await it.join();
    const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    await it.app.call('PUT', '/v1/tools/work', { key: key(), body: { input_schema: schema } });
    expect((await it.callTool({ n: 'x' })).status).toBe(400);
    await it.app.call('PUT', '/v1/tools/work', { key: key(), body: { enabled: false } });
    expect((await it.callTool({ n: 1 })).status).toBe(400);
    expect(agent.received).toEqual([]);
    expect(await it.events()).toEqual([]);
  });

  test('that fails says why, and leaves tool.failed', async () => {
    const agent = await it.join();
    const answer = it.callTool();
    const { callId } = await agent.next('call');
    agent.send({ type: 'result', callId, status: 'error', error: 'The disk is full.' });
    expect(await answer).toMatchObject({
      status: 500,
      body: { error: { code: 'TOOL_FAILED', message: 'The disk is full.' } },
    });
    expect(await it.events()).toMatchObject([
      { type: 'tool.failed', data: { toolName: 'work', error: 'The disk is full.' } },
    ]);
  });

  test('goes to the agent with the fewest calls under way', async () => {
    const both = [await it.join(), await it.join()];
    const answers = Array.from({ length: 6 }, () => it.callTool());
    const calls = await Promise.all(both.map((agent) => Promise.all([1, 2, 3].map(() => agent.next('call')))));
    for (const [index, agent] of both.entries()) {
      for (const { callId } of calls[index] ?? []) agent.send({ type: 'result', callId, status: 'success' });
    }
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  });

  test('the 33rd at a time of one agent is refused, and there is room again after an answer', async () => {
    const agent = await it.join();
    const answers = Array.from({ length: 32 }, () => it.callTool());
    const calls = await Promise.all(answers.map(() => agent.next('call')));
    const refused = await it.callTool();
    expect(refused).toMatchObject({ status: 500, body: { error: { message: expect.stringContaining('32') } } });
    for (const { callId } of calls) agent.send({ type: 'result', callId, status: 'success', result: 1 });
    expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([200]));
    const [, answer] = await Promise.all([agent.answer(2), it.callTool()]);
    expect(answer.status).toBe(200);
  });

  test('that is held forever fails when its time is up, and is cancelled; a late result harms nothing', async () => {
    const agent = await it.join();
    const answer = await it.callTool();
    expect(answer).toMatchObject({ status: 500, body: { error: { message: expect.stringContaining('within 2 s') } } });
    const { callId } = await agent.next('call');
    expect(await agent.next('cancel')).toEqual({ type: 'cancel', callId });
    agent.send({ type: 'result', callId, status: 'success', result: 'late' });
    const [, next] = await Promise.all([agent.answer('in time'), it.callTool()]);
    expect(next.body).toMatchObject({ result: 'in time' });
  });

  test('whose caller leaves is cancelled', async () => {
    const agent = await it.join();
    const leaving = new AbortController();
    const answer = it.callTool({}, { signal: leaving.signal }).catch(() => 'left');
    const { callId } = await agent.next('call');
    leaving.abort();
    expect(await answer).toBe('left');
    expect(await agent.next('cancel')).toEqual({ type: 'cancel', callId });
  });

  test('with a result of 5 MB comes back whole; a larger one ends the connection and fails', async () => {
    const agent = await it.join();
    const large = 'x'.repeat(5 * 1024 * 1024 - 2);
    const [, answer] = await Promise.all([agent.answer(large), it.callTool()]);
    expect(pick(answer.body, 'result')).toBe(large);
    const [, tooLarge] = await Promise.all([agent.answer(`${large}${'x'.repeat(2000)}`), it.callTool()]);
    expect(tooLarge).toMatchObject({ status: 500, body: { error: { code: 'TOOL_FAILED' } } });
    expect((await agent.closed).code).toBe(1009);
  });

  test('with a result that nests too deeply fails', async () => {
    const agent = await it.join();
    const answer = it.callTool();
    const { callId } = await agent.next('call');
    const deep = '['.repeat(50_000) + ']'.repeat(50_000);
    agent.socket.send(`{"type":"result","callId":"${String(callId)}","status":"success","result":${deep}}`);
    expect(await answer).toMatchObject({
      status: 500,
      body: { error: { message: expect.stringContaining('deeper') } },
    });
  });
});

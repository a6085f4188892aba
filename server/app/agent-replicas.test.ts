import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { queryRows } from '../testing/query-rows.ts';
import { startAgentApp, type AgentApp } from '../testing/start-agent-app.ts';
import { RawAgent } from '../testing/raw-agent.ts';
import { cleanUpProcesses, startProcess } from '../testing/start-process.ts';
import { ADMIN_KEY, pick, startTestApp, type TestApp } from '../testing/start-test-app.ts';

// Agents connect to `holder`; calls come in at `app`.
let it: AgentApp;
let holder: TestApp;
beforeAll(async () => {
  it = await startAgentApp({ HANDLER_TIMEOUT_SECONDS: '2' }, 2);
  holder = it.apps[1] ?? it.app;
});
afterAll(() => it.stop());
beforeEach(() => it.begin());
afterEach(cleanUpProcesses);

const LOST = {
  status: 500,
  body: { error: { code: 'TOOL_FAILED', message: expect.stringContaining('disconnected') } },
};

function callRows(): Promise<Record<string, unknown>[]> {
  return queryRows(it.app.databaseUrl, 'select id from relay_calls where developer_id = $1', [it.developer().id]);
}

describe('an agent that is connected to another process', () => {
  test('is listed everywhere and runs calls from everywhere; nothing of them stays behind', async () => {
    const agent = await it.join(['work'], { to: holder });
    const { key } = it.developer();
    for (const app of it.apps) {
      const { body } = await app.call('GET', '/v1/agents', { key });
      expect(body).toMatchObject({ agents: [{ name: 'raw', handlers: ['work'] }] });
    }
    const result = { text: 'a\u0000b', lone: '\ud800', n: [1.5, null] };
    const [call, answer] = await Promise.all([agent.answer(result), it.callTool({ in: 'ü' })]);
    expect(call).toMatchObject({ handler: 'work', input: { in: 'ü' } });
    expect(answer).toMatchObject({ status: 200, body: { status: 'success', result } });
    await expect.poll(callRows).toEqual([]);
  });

  test('100 calls at once each get their own answer', async () => {
    const agents = [await it.join(['work'], { to: holder }), await it.join(), await it.join(['work'], { to: holder })];
    const ids: unknown[] = [];
    for (const agent of agents) {
      agent.socket.on('message', (data: Buffer) => {
        const message: unknown = JSON.parse(data.toString());
        if (pick(message, 'type') !== 'call') return;
        ids.push(pick(message, 'callId'));
        agent.send({
          type: 'result',
          callId: pick(message, 'callId'),
          status: 'success',
          result: pick(message, 'input'),
        });
      });
    }
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => it.callTool({ n }, { by: it.apps[n % 2] ?? it.app })),
    );
    expect(answers.map(({ body }) => pick(body, 'result', 'n'))).toEqual(Array.from({ length: 100 }, (_, n) => n));
    expect(ids).toHaveLength(100);
    expect(new Set(ids).size).toBe(100);
  });

  test('an agent of this process is preferred', async () => {
    const far = await it.join(['work'], { to: holder });
    const near = await it.join();
    await Promise.all([near.answer(1), it.callTool()]);
    expect(far.received).toEqual([]);
  });

  test('a failure, a connection that breaks and a time that is up come through', async () => {
    const agent = await it.join(['work'], { to: holder });
    const failing = it.callTool();
    const { callId } = await agent.next('call');
    agent.send({ type: 'result', callId, status: 'error', error: 'The disk is full.' });
    expect(await failing).toMatchObject({ status: 500, body: { error: { message: 'The disk is full.' } } });

    expect(await it.callTool()).toMatchObject({ body: { error: { message: expect.stringContaining('within 2 s') } } });
    expect(await agent.next('cancel')).toMatchObject({ type: 'cancel' });
    agent.received.length = 0;

    const broken = it.callTool();
    await agent.next('call');
    agent.cut();
    expect(await broken).toMatchObject(LOST);
    await expect.poll(async () => (await it.callTool()).status).toBe(404);
    await expect.poll(callRows).toEqual([]);
  });

  test('a caller that leaves cancels the call there', async () => {
    const agent = await it.join(['work'], { to: holder });
    const leaving = new AbortController();
    const answer = it.callTool({}, { signal: leaving.signal }).catch(() => 'left');
    const { callId } = await agent.next('call');
    leaving.abort();
    expect(await answer).toBe('left');
    expect(await agent.next('cancel')).toEqual({ type: 'cancel', callId });
    await expect.poll(callRows).toEqual([]);
  });

  test('connections to the database that break in the middle lose no answer', async () => {
    const agent = await it.join(['work'], { to: holder });
    const answer = it.callTool();
    const { callId } = await agent.next('call');
    await queryRows(
      it.app.databaseUrl,
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name like 'tessera listener%'`,
    );
    agent.send({ type: 'result', callId, status: 'success', result: 'here' });
    expect(await answer).toMatchObject({ status: 200, body: { result: 'here' } });
  });
});

describe('a process that ends', () => {
  test('by kill -9: calls on its agents fail clearly, and none is sent there any more', async () => {
    const env = { DATABASE_URL: it.app.databaseUrl, BOOTSTRAP_API_KEY: ADMIN_KEY, LOG_LEVEL: 'warn' };
    const doomed = await startProcess({ env });
    const patient = await startTestApp({ DATABASE_URL: it.app.databaseUrl, HANDLER_TIMEOUT_SECONDS: '60' });
    const agent = await RawAgent.join(doomed.url, it.developer().key, ['work']);
    const answer = it.callTool({}, { by: patient });
    await agent.next('call');
    await doomed.kill();
    expect(await answer).toMatchObject(LOST);
    expect((await it.callTool({}, { by: patient })).status).toBe(404);
    expect((await patient.call('GET', '/v1/agents', { key: it.developer().key })).body).toEqual({ agents: [] });
    await patient.stop();
  });

  test('by a stop: agents are told, calls under way finish, from this process and from others', async () => {
    const leaving = await startTestApp({ DATABASE_URL: it.app.databaseUrl });
    const agent = await it.join(['work'], { to: leaving });
    const near = it.callTool({ from: 'near' }, { by: leaving });
    const far = it.callTool({ from: 'far' });
    const calls = [await agent.next('call'), await agent.next('call')];
    const stopped = leaving.stop();
    expect(await agent.next('bye')).toEqual({ type: 'bye', reason: 'The service is stopping.' });
    expect((await it.callTool()).status).toBe(404);
    for (const { callId, input } of calls) agent.send({ type: 'result', callId, status: 'success', result: input });
    expect(await Promise.all([near, far])).toMatchObject([
      { status: 200, body: { result: { from: 'near' } } },
      { status: 200, body: { result: { from: 'far' } } },
    ]);
    expect((await agent.closed).code).toBe(1001);
    await stopped;
  });

  test('by a stop, with an agent that never answers: it ends all the same', async () => {
    const leaving = await startTestApp({ DATABASE_URL: it.app.databaseUrl });
    const agent = await it.join(['work'], { to: leaving });
    agent.socket.pause();
    await expect(leaving.stop()).resolves.toBeUndefined();
  });
});

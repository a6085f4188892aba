import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hello, RawAgent } from '../testing/raw-agent.ts';
import { startAgentApp, type AgentApp } from '../testing/start-agent-app.ts';

let it: AgentApp;
beforeAll(async () => {
  it = await startAgentApp({ HANDLER_TIMEOUT_SECONDS: '2' });
});
afterAll(() => it.stop());
beforeEach(() => it.begin());

function key(): string {
  return it.developer().key;
}

describe('a connection that breaks', () => {
  const LOST = {
    status: 500,
    body: { error: { code: 'TOOL_FAILED', message: expect.stringContaining('disconnected') } },
  };

  test('when the call has been received: a clear failure at once, and no second attempt', async () => {
    const [agent, spare] = [await it.join(), await it.join()];
    const answer = it.callTool();
    const holder = await Promise.race([agent, spare].map((one) => one.next('call').then(() => one)));
    holder.cut();
    expect(await answer).toMatchObject(LOST);
    const other = holder === agent ? spare : agent;
    expect(other.received).toEqual([]);
    expect((await it.events()).map(({ type }) => type)).toEqual(['tool.failed']);
  });

  test('before the call is read: the same', async () => {
    const agent = await it.join();
    agent.socket.pause();
    const answer = it.callTool();
    setTimeout(() => agent.cut(), 100);
    expect(await answer).toMatchObject(LOST);
  });

  test('in the middle of the frame of the result: the same', async () => {
    const agent = await it.join();
    const answer = it.callTool();
    const { callId } = await agent.next('call');
    const text = JSON.stringify({ type: 'result', callId, status: 'success', result: 'x'.repeat(1000) });
    agent.socket.send(text.slice(0, 500), { fin: false }, () => agent.cut());
    expect(await answer).toMatchObject(LOST);
  });

  test('after the result: the call succeeded', async () => {
    const agent = await it.join();
    const answer = it.callTool();
    const { callId } = await agent.next('call');
    agent.send({ type: 'result', callId, status: 'success', result: 'whole' });
    agent.socket.close();
    expect(await answer).toMatchObject({ status: 200, body: { result: 'whole' } });
    expect((await it.callTool()).status).toBe(404);
  });
});

describe('an agent that misbehaves is disconnected with a reason', () => {
  test.each([
    ['no JSON', 'junk'],
    ['an unknown message', '{"type":"dance"}'],
    ['a result without its fields', '{"type":"result"}'],
    ['a second hello', JSON.stringify(hello(['work']))],
    ['a result for a call that was never made', '{"type":"result","callId":"call_1","status":"success"}'],
  ])('%s', async (_what, text) => {
    const agent = await it.join();
    agent.socket.send(text);
    expect((await agent.closed).code).toBe(1008);
    expect(agent.received.at(-1)).toEqual({ type: 'bye', reason: expect.any(String) });
  });

  test('bytes instead of text, another protocol, too many handlers', async () => {
    const binary = await it.join();
    binary.socket.send(Buffer.from('{}'));
    expect((await binary.closed).code).toBe(1008);
    for (const odd of [{ ...hello(['work']), protocol: 2 }, hello(Array.from({ length: 257 }, (_, n) => `h${n}`))]) {
      const agent = new RawAgent(it.app.url, { 'x-api-key': key() });
      await once(agent.socket, 'open');
      agent.send(odd);
      expect((await agent.closed).code).toBe(1008);
    }
  });

  test('a flood of control frames', async () => {
    const agent = await it.join();
    for (let i = 0; i < 500; i++) agent.socket.ping();
    expect(await agent.closed).toMatchObject({ code: 1008, reason: expect.stringContaining('Too many') });
  });

  test('a result for a call of another developer: that call is not touched', async () => {
    const agent = await it.join();
    const stranger = await it.app.createDeveloper();
    const thief = await it.join(['work'], { key: stranger.key });
    const answer = it.callTool();
    const { callId } = await agent.next('call');
    thief.send({ type: 'result', callId, status: 'success', result: 'forged' });
    expect((await thief.closed).code).toBe(1008);
    agent.send({ type: 'result', callId, status: 'success', result: 'true' });
    expect((await answer).body).toMatchObject({ result: 'true' });
  });

  test('a developer never reaches the agent of another, whatever its handlers are called', async () => {
    const stranger = await it.app.createDeveloper();
    const foreign = await it.join(['work'], { key: stranger.key });
    expect((await it.callTool()).status).toBe(404);
    expect(foreign.received).toEqual([]);
  });
});

describe('a key that is revoked', () => {
  test('ends its connections about a second later, and the calls on them fail', async () => {
    const second = await it.app.createKey(key(), ['read', 'write']);
    const agent = await it.join(['work'], { key: second.key });
    const answer = it.callTool();
    await agent.next('call');
    const { status } = await it.app.call('DELETE', `/v1/auth/api-keys/${second.id}`, { key: key() });
    expect(status).toBe(200);
    expect(await agent.closed).toMatchObject({ code: 1008, reason: expect.stringContaining('revoked') });
    expect((await answer).status).toBe(500);
  });
});

import { describe, expect, it } from 'vitest';
import { wholeAnswer } from '../../testing/scripted-vendor-wire.ts';
import { ask, drain, KEY, PROTOCOLS, setUp, until } from '../../testing/scripted-vendor-model.ts';
import { hasRecordings, recordings } from '../../testing/scripted-vendor-recordings.ts';
import type { ModelRequest } from './types.ts';

describe.each(PROTOCOLS)('a model over %s', (protocol) => {
  const usage = { inputTokens: 11, outputTokens: 7 };
  const turn = { text: ['Hel', 'lo 你', '好'], toolCalls: [{ id: 'c1', name: 'x', input: { q: [1] } }], usage };
  const expected = {
    text: 'Hello 你好',
    toolCalls: [{ id: 'c1', name: 'x', input: { q: [1] } }],
    usage,
    stopReason: 'tools',
  };

  it('answers whole and streamed alike, and sends what it should', async () => {
    const { model, vendor, facts } = await setUp(protocol, [turn, turn, { ...turn, paceMs: 0 }]);
    expect(await model.generate(ask().request)).toMatchObject(expected);
    for (let i = 0; i < 2; i++) {
      const { request, usages } = ask();
      const { fragments, answer } = await drain(model, request);
      expect(fragments).toEqual(turn.text);
      expect(answer).toMatchObject(expected);
      expect(usages.at(-1)).toEqual(usage);
    }
    expect(facts).toMatchObject(
      Array.from({ length: 3 }, () => ({ vendor: 'default', model: 'up', outcome: 'finished', usage })),
    );
    const path = protocol === 'anthropic' ? '/v1/messages' : '/v1/chat/completions';
    const sent = protocol === 'anthropic' ? { 'x-api-key': KEY } : { authorization: `Bearer ${KEY}` };
    expect(vendor.requests[0]).toMatchObject({ path, headers: { ...sent, 'content-type': 'application/json' } });
    expect(vendor.requests.map(({ body }) => body['stream'])).toEqual([undefined, true, true]);
    expect(vendor.requests[0]?.body).toMatchObject({ model: 'up', max_tokens: 8192 });
  });

  it('takes an answer in one piece where it asked for a stream', async () => {
    const { model } = await setUp(protocol, (request) => ({
      replay: Buffer.from(JSON.stringify(wholeAnswer(turn, request))),
      contentType: 'application/json; charset=utf-8',
    }));
    const { fragments, answer } = await drain(model, ask().request);
    expect(fragments).toEqual(['Hello 你好']);
    expect(answer).toMatchObject(expected);
  });

  it('uses its connection again', async () => {
    const { model, vendor } = await setUp(protocol, () => turn);
    for (let i = 0; i < 5; i++) await drain(model, ask().request);
    await model.generate(ask().request);
    // The next call may begin while the last bytes of the one before are still on their way.
    expect(vendor.connectionCount()).toBeLessThanOrEqual(2);
  });

  it('never asks for more output than the setting allows', async () => {
    const { model, vendor } = await setUp(protocol, [turn, turn], { maxOutputTokens: 100 });
    await model.generate(ask({ maxOutputTokens: 50 }).request);
    await model.generate(ask({ maxOutputTokens: 500 }).request);
    expect(vendor.requests.map(({ body }) => body['max_tokens'])).toEqual([50, 100]);
  });

  it('goes round a tool loop', async () => {
    const { model, vendor } = await setUp(protocol, [turn, { text: 'done' }]);
    const tools = [{ name: 'x', description: 'X.', inputSchema: {} }];
    const first = await drain(model, ask({ tools }).request);
    const { text, toolCalls, raw } = first.answer;
    const messages: ModelRequest['messages'] = [
      { role: 'user', text: 'Hi' },
      { role: 'assistant', text, toolCalls, raw },
      { role: 'tool', results: [{ callId: 'c1', name: 'x', text: 'found', isError: false }] },
    ];
    expect((await model.generate(ask({ tools, messages }).request)).text).toBe('done');
    const sent = JSON.stringify(vendor.requests[1]?.body['messages']);
    expect(sent).toContain('found');
    expect(sent.match(/"c1"/g)).toHaveLength(2);
  });

  it('offers tools of any name under names that the vendor takes', async () => {
    const names = ['天气.now', '天气 now', 'n'.repeat(70), 'plain'];
    const { model, vendor } = await setUp(protocol, ({ body }) => {
      const known = JSON.stringify(body['tools']).matchAll(/"name":"([^"]*)"/g);
      return { toolCalls: [...known].map(([, name]) => ({ name: name ?? '', input: {} })) };
    });
    const tools = names.map((name) => ({ name, description: '', inputSchema: {} }));
    const { answer } = await drain(model, ask({ tools }).request);
    expect(answer.toolCalls.map(({ name }) => name)).toEqual(names);
    const sent = JSON.stringify(vendor.requests[0]?.body);
    for (const [, name] of sent.matchAll(/"name":"([^"]*)"/g)) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  it('closes the connection within 100 ms of an abort, meters what was seen and frees the slot', async () => {
    const { model, models, vendor, facts } = await setUp(protocol, [
      { ...turn, paceMs: 0, breakAfter: { fragments: 3, how: 'hang' } },
    ]);
    const controller = new AbortController();
    const { request, usages } = ask({ signal: controller.signal });
    const stream = model.stream(request);
    for (let i = 0; i < 3; i++) await stream.next();
    const waiting = stream.next();
    const abortedAtMs = performance.now();
    controller.abort();
    expect(models.counts()).toEqual({ inFlight: 0, waiting: 0 });
    expect(usages.at(-1)?.outputTokens).toBeGreaterThanOrEqual(2);
    await expect(waiting).rejects.toMatchObject({ code: 'AI_CALL_FAILED', message: /stopped/ });
    await vendor.waitForAborts(1);
    expect((vendor.abortedAtMs[0] ?? Infinity) - abortedAtMs).toBeLessThan(100);
    expect(facts).toMatchObject([{ outcome: 'abandoned', usage: usages.at(-1) }]);
  });

  it('closes the connection when its stream is abandoned between fragments', async () => {
    const { model, models, vendor, facts } = await setUp(protocol, [
      { ...turn, paceMs: 0, breakAfter: { fragments: 2, how: 'hang' } },
    ]);
    for await (const { text } of model.stream(ask().request)) {
      expect(text).toBe('Hel');
      break;
    }
    await vendor.waitForAborts(1);
    expect(models.counts().inFlight).toBe(0);
    expect(facts).toMatchObject([{ outcome: 'abandoned' }]);
  });

  it('closes the connection when it is aborted before the vendor answers', async () => {
    const { model, vendor } = await setUp(protocol, () => ({ hang: true }));
    for (const run of [
      (request: ModelRequest) => model.generate(request),
      (request: ModelRequest) => drain(model, request),
    ]) {
      const controller = new AbortController();
      const { request, usages } = ask({ signal: controller.signal });
      const before = vendor.requests.length;
      const call = run(request);
      await vendor.waitForRequests(before + 1);
      controller.abort();
      await expect(call).rejects.toThrow(/stopped/);
      await vendor.waitForAborts(before + 1);
      // The request went out, so its input counts.
      expect(usages.at(-1)?.inputTokens).toBeGreaterThan(10);
    }
  });

  it('waits for a slot when all are taken, and holds it until the stream is over', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const { models, vendor } = await setUp(
      protocol,
      async (_request, index) => {
        if (index === 0) await gate;
        return turn;
      },
      { maxConcurrency: 1 },
    );
    const order: string[] = [];
    const call = async (name: string, tier: 'free' | 'enterprise') => {
      await drain(models.resolve(undefined, tier).model, ask().request);
      order.push(name);
    };
    const calls = [call('first', 'free')];
    await vendor.waitForRequests(1);
    calls.push(call('free', 'free'), call('enterprise', 'enterprise'));
    await until(() => models.counts().waiting === 2);
    open();
    await Promise.all(calls);
    expect(order).toEqual(['first', 'enterprise', 'free']);
    expect(vendor.peakInFlight()).toBe(1);
    expect(models.counts()).toEqual({ inFlight: 0, waiting: 0 });
  });

  it.skipIf(!hasRecordings)('reads recorded traffic off the wire, one byte at a time', async () => {
    const smallest = recordings(protocol).toSorted((a, b) => a.bytes.length - b.bytes.length)[0];
    const replay = smallest?.bytes ?? Buffer.alloc(0);
    const { model } = await setUp(protocol, [{ replay }, { replay, cuts: 'every-byte' }]);
    const whole = await drain(model, ask().request);
    const bytewise = await drain(model, ask().request);
    expect(bytewise).toEqual(whole);
    expect(whole.answer.usage.outputTokens).toBeGreaterThan(0);
  });
});

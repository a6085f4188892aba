import { describe, expect, it } from 'vitest';
import { startScriptedVendor } from '../../testing/scripted-vendor.ts';
import { ask, connect, drain, KEY, PROTOCOLS, setUp } from '../../testing/scripted-vendor-model.ts';

describe.each(PROTOCOLS)('a failing model over %s', (protocol) => {
  const turn = { text: ['Hel', 'lo 你', '好'], usage: { inputTokens: 11, outputTokens: 7 } };

  it.each([
    [401, 'The AI vendor refused the configured key (status 401): bad *** here'],
    [403, 'The AI vendor refused the configured key (status 403): bad *** here'],
    [404, 'The AI vendor does not know the model "up" (status 404): bad *** here'],
    [400, 'The AI vendor refused the request (status 400): bad *** here'],
    [429, 'The AI vendor is overloaded (status 429): bad *** here'],
    [500, 'The AI vendor failed (status 500): bad *** here'],
  ])('says what status %i means, without the key, and meters nothing', async (status, message) => {
    const { model, facts } = await setUp(protocol, () => ({
      status,
      message: `bad ${KEY}\nhere`,
      headers: { 'retry-after': '60' },
    }));
    const { request, usages } = ask();
    await expect(model.generate(request)).rejects.toMatchObject({ code: 'AI_CALL_FAILED', status: 500, message });
    await expect(drain(model, request)).rejects.toMatchObject({ code: 'AI_CALL_FAILED', message });
    expect(usages.at(-1)).toEqual({ inputTokens: 0, outputTokens: 0 });
    expect(facts).toMatchObject([{ outcome: 'failed' }, { outcome: 'failed' }]);
  });

  it('tries again when the vendor is overloaded, twice at most and with growing pauses', async () => {
    const busy = { status: 529, message: 'Overloaded' };
    const { model, vendor, sleeps } = await setUp(protocol, [busy, { ...busy, headers: { 'retry-after': '2' } }, turn]);
    expect((await drain(model, ask().request)).answer.text).toBe('Hello 你好');
    expect(sleeps).toEqual([500, 2000]);
    vendor.push(busy, busy, busy, turn);
    await expect(model.generate(ask().request)).rejects.toMatchObject({ message: /529.*Overloaded/ });
    expect(vendor.requests).toHaveLength(6);
  });

  it('does not try again what may have been done, or what the vendor wants put off for long', async () => {
    const { model, vendor, sleeps } = await setUp(protocol, [
      { status: 500 },
      { status: 429, headers: { 'retry-after': '30' } },
      { status: 503, headers: { 'retry-after': new Date(Date.now() + 60_000).toUTCString() } },
      { ...turn, breakAfter: { fragments: 0, how: 'cut' } },
    ]);
    for (let i = 0; i < 4; i++) await expect(drain(model, ask().request)).rejects.toThrow(/vendor/);
    expect(vendor.requests).toHaveLength(4);
    expect(sleeps).toEqual([]);
  });

  it.each(['cut', 'error'] as const)('that breaks off (%s) fails after what was said, and is metered', async (how) => {
    const { model, facts } = await setUp(protocol, [
      { ...turn, paceMs: 0, breakAfter: { fragments: 2, how, message: `Overloaded ${KEY}` } },
    ]);
    const { request, usages } = ask();
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { text } of model.stream(request)) seen.push(text);
    })();
    const message = how === 'cut' ? /connection to the AI vendor was lost/ : /broke off its answer: Overloaded \*\*\*$/;
    await expect(reading).rejects.toMatchObject({ code: 'AI_CALL_FAILED', message });
    expect(seen).toEqual(['Hel', 'lo 你']);
    // Two tokens for the eight characters seen; the input as the vendor says at the start, or by its length.
    expect(usages.at(-1)?.outputTokens).toBe(2);
    expect(usages.at(-1)?.inputTokens).toBeGreaterThan(10);
    expect(facts).toMatchObject([{ outcome: 'failed', usage: usages.at(-1) }]);
  });

  it('that ends without an end is a failure, not an answer', async () => {
    const { model } = await setUp(protocol, () => ({ replay: Buffer.from('data: {}\n\n') }));
    await expect(drain(model, ask().request)).rejects.toThrow(/ended before it was complete/);
    await expect(model.generate(ask().request)).rejects.toThrow(/ended before it was complete/);
  });

  it('says what an error in one piece says, where it asked for a stream', async () => {
    const error = { replay: Buffer.from('{"type":"error","error":{"message":"no"}}'), contentType: 'application/json' };
    const { model } = await setUp(protocol, [error]);
    await expect(drain(model, ask().request)).rejects.toThrow(/broke off its answer: no/);
  });

  it('waits so long and no longer', async () => {
    const silent = await setUp(protocol, () => ({ hang: true }), { timeoutMs: 50 });
    await expect(silent.model.generate(ask().request)).rejects.toThrow(/did not begin to answer within 0.05 seconds/);
    const stuck = await setUp(protocol, [{ ...turn, breakAfter: { fragments: 1, how: 'hang' } }], {
      idleTimeoutMs: 50,
    });
    await expect(drain(stuck.model, ask().request)).rejects.toThrow(/fell silent for 0.05 seconds/);
    await stuck.vendor.waitForAborts(1);
  });

  it('says when the vendor cannot be reached, after trying again', async () => {
    const closed = await startScriptedVendor();
    await closed.close();
    const { model, sleeps } = connect(protocol, closed.baseUrl);
    const { request, usages } = ask();
    await expect(model.generate(request)).rejects.toThrow('The AI vendor could not be reached.');
    expect(sleeps).toEqual([500, 1000]);
    expect(usages.at(-1)).toEqual({ inputTokens: 0, outputTokens: 0 });
  });
});

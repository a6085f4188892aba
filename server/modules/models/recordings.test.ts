import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anthropicMessages } from './anthropic-messages.ts';
import { openAiChat } from './openai-chat.ts';
import { usageSoFar, type Protocol } from './protocol.ts';
import { createSseReader } from './sse-events.ts';
import { cutAt, hasRecordings, recordings } from '../../testing/scripted-vendor-recordings.ts';
import { asArray, asObject, asText } from './vendor-json.ts';

function fold(protocol: Protocol, pieces: Uint8Array[]) {
  const answer = protocol.startFold();
  let text = '';
  const reader = createSseReader((data) => {
    text += answer.take(data);
  });
  for (const piece of pieces) reader.push(piece);
  return { streamed: text, progress: answer.progress, usage: usageSoFar(answer.progress, 0), ...answer.answer() };
}

/* oxlint-disable typescript/no-explicit-any -- a second reading of the recordings, as naive as can be, to compare with */
function naiveEvents(bytes: Buffer): any[] {
  return bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)));
}

function naiveAnthropic(bytes: Buffer) {
  const events = naiveEvents(bytes);
  const usages = events.map((event) => event.message?.usage ?? event.usage).filter(Boolean);
  const last = (field: string) => usages.map((usage) => usage[field]).findLast((value) => value !== undefined) ?? 0;
  return {
    text: events
      .filter((event) => event.delta?.type === 'text_delta')
      .map((event) => event.delta.text)
      .join(''),
    toolNames: events
      .filter((event) => event.content_block?.type === 'tool_use')
      .map((event) => event.content_block.name),
    usage: {
      inputTokens: last('input_tokens') + last('cache_creation_input_tokens') + last('cache_read_input_tokens'),
      outputTokens: last('output_tokens'),
    },
  };
}

function naiveOpenAi(bytes: Buffer) {
  const chunks = naiveEvents(bytes);
  const usage = chunks.findLast((chunk) => chunk.usage)?.usage;
  const calls: { name: string; text: string }[] = [];
  for (const call of chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])) {
    if (call.function.name) calls[call.index] = { name: call.function.name, text: '' };
    const known = calls[call.index];
    if (known) known.text += call.function.arguments;
  }
  return {
    text: chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''),
    toolCalls: calls.map(({ name, text }) => ({ name, input: JSON.parse(text) })),
    usage: { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens },
  };
}
/* oxlint-enable typescript/no-explicit-any */

/** The offsets inside characters of several bytes, where a careless reader breaks. */
function offsetsInsideCharacters(bytes: Buffer): number[] {
  return [...bytes.keys()].filter((at) => ((bytes[at] ?? 0) & 0xc0) === 0x80);
}

function expectSameHoweverCut(protocol: Protocol, bytes: Buffer): void {
  const whole = fold(protocol, [bytes]);
  expect(fold(protocol, cutAt(bytes, [...bytes.keys()]))).toEqual(whole);
  expect(fold(protocol, cutAt(bytes, offsetsInsideCharacters(bytes)))).toEqual(whole);
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 20 }), (offsets) => {
      expect(fold(protocol, cutAt(bytes, offsets))).toEqual(whole);
    }),
    { numRuns: 30 },
  );
}

describe.skipIf(!hasRecordings)('recorded answers of Anthropic', () => {
  const recorded = recordings('anthropic');

  it('are there', () => {
    expect(recorded.length).toBeGreaterThan(5);
  });

  it.each(recorded)('$name gives its text, tools and usage, however it is cut', ({ bytes }) => {
    const { progress, streamed, text, toolCalls, usage, stopReason } = fold(anthropicMessages, [bytes]);
    const expected = naiveAnthropic(bytes);
    expect(streamed).toBe(expected.text);
    expect(text).toBe(expected.text);
    expect(toolCalls.map(({ name }) => name)).toEqual(expected.toolNames);
    expect(usage).toEqual(expected.usage);
    expect(stopReason).toBe('stop');
    expect(progress).toMatchObject({ isComplete: true, failure: undefined });
    expectSameHoweverCut(anthropicMessages, bytes);
  });

  it('keep signed thinking, server tools, citations and compaction for the way back', () => {
    const blockTypes = new Set<string>();
    const signatures: unknown[] = [];
    const citationCounts: number[] = [];
    for (const { bytes } of recorded) {
      const { raw } = fold(anthropicMessages, [bytes]);
      for (const block of asArray(asObject(raw)['content']).map(asObject)) {
        blockTypes.add(asText(block['type']));
        signatures.push(...(block['type'] === 'thinking' ? [block['signature']] : []));
        citationCounts.push(...(block['citations'] ? [asArray(block['citations']).length] : []));
      }
    }
    expect(signatures).toEqual(signatures.map(() => expect.stringMatching(/^E\w/)));
    expect(signatures).not.toEqual([]);
    expect(Math.min(...citationCounts)).toBeGreaterThan(0);
    expect([...blockTypes].toSorted((a, b) => a.localeCompare(b))).toEqual([
      'advisor_tool_result',
      'compaction',
      'redacted_thinking',
      'server_tool_use',
      'text',
      'thinking',
      'web_search_tool_result',
    ]);
  });

  it('give searches of server tools their input back', () => {
    const [recording] = recorded.filter(({ name }) => name === 'test_anthropic_web_search_tool_stream.sse');
    const { raw } = fold(anthropicMessages, [recording?.bytes ?? Buffer.alloc(0)]);
    expect(raw).toMatchObject({
      content: expect.arrayContaining([
        expect.objectContaining({ type: 'server_tool_use', input: { query: expect.any(String) } }),
      ]),
    });
  });
});

describe.skipIf(!hasRecordings)('recorded answers of OpenAI', () => {
  const recorded = recordings('openai');

  it('are there', () => {
    expect(recorded.length).toBeGreaterThan(5);
  });

  it.each(recorded)('$name gives its text, tools and usage, however it is cut', ({ bytes }) => {
    const { progress, streamed, text, toolCalls, usage, stopReason } = fold(openAiChat, [bytes]);
    const expected = naiveOpenAi(bytes);
    expect(streamed).toBe(expected.text);
    expect(text).toBe(expected.text);
    expect(toolCalls.map(({ name, input }) => ({ name, input }))).toEqual(expected.toolCalls);
    expect(usage).toEqual(expected.usage);
    expect(stopReason).toBe(expected.toolCalls.length > 0 ? 'tools' : 'stop');
    expect(progress).toMatchObject({ isComplete: true, failure: undefined });
    expectSameHoweverCut(openAiChat, bytes);
  });
});

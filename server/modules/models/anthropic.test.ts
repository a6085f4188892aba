import { describe, expect, it } from 'vitest';
import { anthropicMessages } from './anthropic-messages.ts';
import { usageSoFar } from './protocol.ts';
import { hasRecordings, recordedMessages } from '../../testing/scripted-vendor-recordings.ts';
import { asObject } from './vendor-json.ts';
import type { ModelRequest } from './types.ts';

function body(request: Partial<ModelRequest>, stream = true) {
  return anthropicMessages.body({
    upstream: 'm-1',
    maxOutputTokens: 4096,
    stream,
    baseUrl: 'https://host/v1',
    request: { model: 'm-1', system: '', messages: [], tools: [], toolChoice: 'auto', ...request },
  });
}

function fold(events: unknown[]) {
  const answer = anthropicMessages.startFold();
  const text = events.map((event) => answer.take(typeof event === 'string' ? event : JSON.stringify(event))).join('');
  return { streamed: text, progress: answer.progress, ...answer.answer() };
}

/** A piece of the input of the tool call that is block 0. */
function input(json: string) {
  return { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: json } };
}

const exchangeRate = {
  name: 'get_exchange_rate',
  description: 'Look up the current exchange rate between two currencies.',
  inputSchema: {
    additionalProperties: false,
    properties: { from_currency: { type: 'string' }, to_currency: { type: 'string' } },
    required: ['from_currency', 'to_currency'],
    type: 'object',
  },
};

describe('a request to Anthropic', () => {
  it('has all of its fields in their places', () => {
    expect(
      body({
        system: 'Be brief.',
        messages: [{ role: 'user', text: 'Hi' }],
        tools: [exchangeRate],
        toolChoice: 'none',
      }),
    ).toEqual({
      model: 'm-1',
      max_tokens: 4096,
      system: 'Be brief.',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      tools: [
        { name: exchangeRate.name, description: exchangeRate.description, input_schema: exchangeRate.inputSchema },
      ],
      tool_choice: { type: 'none' },
      stream: true,
    });
  });

  it('leaves out what is empty', () => {
    expect(body({ messages: [{ role: 'user', text: 'Hi' }] }, false)).toEqual({
      model: 'm-1',
      max_tokens: 4096,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    });
  });

  it.skipIf(!hasRecordings)('continues a tool loop as the recorded client did', () => {
    const messages = recordedMessages('anthropic', 'test_anthropic_native_tool_search_streaming.1');
    const { content } = asObject(messages[1]);
    const built = body({
      messages: [
        { role: 'user', text: 'What is the current USD to EUR exchange rate?' },
        { role: 'assistant', text: '', toolCalls: [], raw: { protocol: 'anthropic', content } },
        {
          role: 'tool',
          results: [
            {
              callId: 'toolu_01EFn5wTNBYA8Reni8rbmnHT',
              name: 'get_exchange_rate',
              text: '1 USD = 0.92 EUR',
              isError: false,
            },
          ],
        },
      ],
      tools: [exchangeRate],
    });
    expect(built['messages']).toMatchObject([
      messages[0],
      messages[1],
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_01EFn5wTNBYA8Reni8rbmnHT' }] },
    ]);
    expect(built['tools']).toMatchObject([{ name: 'get_exchange_rate', input_schema: exchangeRate.inputSchema }]);
  });

  it('merges neighbours of one role, drops empty turns, and marks failed results', () => {
    const built = body({
      messages: [
        { role: 'user', text: 'a' },
        { role: 'assistant', text: '', toolCalls: [] },
        { role: 'user', text: 'b' },
        { role: 'assistant', text: 't', toolCalls: [{ id: 'c1', name: 'x', input: { q: 1 } }] },
        { role: 'tool', results: [{ callId: 'c1', name: 'x', text: 'no', isError: true }] },
        { role: 'user', text: 'c' },
      ],
    });
    expect(built['messages']).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 't' },
          { type: 'tool_use', id: 'c1', name: 'x', input: { q: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: 'no', is_error: true },
          { type: 'text', text: 'c' },
        ],
      },
    ]);
  });

  it('asks for JSON in words, and ignores what another protocol has kept', () => {
    const built = body({
      system: 'S',
      jsonOutput: true,
      messages: [{ role: 'assistant', text: 'x', toolCalls: [], raw: { protocol: 'openai', message: { role: 'y' } } }],
    });
    expect(built['system']).toMatch(/^S\n\nAnswer with one JSON/);
    expect(built['messages']).toEqual([{ role: 'assistant', content: [{ type: 'text', text: 'x' }] }]);
  });
});

describe('an answer of Anthropic', () => {
  const usage = { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 1 };
  const start = { type: 'message_start', message: { usage } };
  const toolStart = {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'tool_use', id: 't1', name: 'x', input: {} },
  };
  it('puts tool input together, and counts cached input', () => {
    const { toolCalls, stopReason, progress, raw } = fold([
      start,
      toolStart,
      input('{"a":'),
      input('[1]}'),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ]);
    expect(toolCalls).toEqual([{ id: 't1', name: 'x', input: { a: [1] } }]);
    expect(raw).toEqual({ protocol: 'anthropic', content: [{ ...toolStart.content_block, input: { a: [1] } }] });
    expect(stopReason).toBe('tools');
    expect(usageSoFar(progress, 0)).toEqual({ inputTokens: 15, outputTokens: 9 });
  });

  it.each(['{"a":', '[1]', 'null', '"x"'])('says that tool input %j is no object', (json) => {
    expect(fold([start, toolStart, input(json)]).toolCalls).toEqual([
      { id: 't1', name: 'x', input: {}, invalidInput: json },
    ]);
  });

  it('that was cut off is metered by what was seen of it', () => {
    const { progress } = fold([start, toolStart, input('x'.repeat(41))]);
    expect(usageSoFar(progress, 1000)).toEqual({ inputTokens: 15, outputTokens: 11 });
    expect(progress).toMatchObject({ isWritten: false, isComplete: false });
  });

  it('passes on the error that a stream ends with', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    expect(fold([start, error]).progress.failure).toBe('Overloaded');
  });

  it('survives whatever else is sent', () => {
    const odd = [
      '',
      'null',
      '7',
      '[]',
      '{}',
      { type: 'message_start' },
      { type: 'message_start', message: { usage: { input_tokens: -1, output_tokens: 'many' } } },
      { type: 'content_block_start' },
      { type: 'content_block_delta', index: 9, delta: { type: 'text_delta', text: 'lost' } },
      { type: 'content_block_start', index: 1, content_block: { type: 'hologram', shape: 1 } },
      { type: 'content_block_delta', index: 1, delta: { type: 'constructor' } },
      { type: 'content_block_delta', index: 1 },
      { type: 'message_delta', delta: null, usage: null },
      { type: 'novelty' },
    ];
    const { streamed, progress, raw } = fold(odd);
    expect(streamed).toBe('');
    expect(progress).toMatchObject({ failure: undefined, inputTokens: undefined, outputTokens: undefined });
    expect(raw).toMatchObject({ content: expect.arrayContaining([{ type: 'hologram', shape: 1 }]) });
    expect(fold(['{"type":']).progress.failure).toMatch(/not JSON/);
  });

  it('in one piece reads like a streamed one', () => {
    const answer = anthropicMessages.readWhole({
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'text', text: 'a' },
        { type: 'tool_use', id: 't1', name: 'x', input: { q: 1 } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 3, output_tokens: 4 },
    });
    expect(answer.answer()).toMatchObject({
      text: 'a',
      toolCalls: [{ id: 't1', name: 'x', input: { q: 1 } }],
      stopReason: 'tools',
      raw: { content: [{ type: 'thinking', thinking: 'hm', signature: 's' }, {}, {}] },
    });
    expect(usageSoFar(answer.progress, 0)).toEqual({ inputTokens: 3, outputTokens: 4 });
    expect(anthropicMessages.readWhole({}).progress.isWritten).toBe(false);
  });
});

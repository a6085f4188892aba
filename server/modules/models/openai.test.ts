import { describe, expect, it } from 'vitest';
import { openAiChat } from './openai-chat.ts';
import { usageSoFar } from './protocol.ts';
import { hasRecordings, recordedMessages } from '../../testing/scripted-vendor-recordings.ts';
import type { ModelRequest } from './types.ts';

function body(request: Partial<ModelRequest>, baseUrl = 'https://host/v1') {
  return openAiChat.body({
    upstream: 'gpt-4o',
    maxOutputTokens: 4096,
    stream: true,
    baseUrl,
    request: { model: 'gpt-4o', system: '', messages: [], tools: [], toolChoice: 'auto', ...request },
  });
}

function fold(chunks: unknown[]) {
  const answer = openAiChat.startFold();
  const text = chunks.map((chunk) => answer.take(typeof chunk === 'string' ? chunk : JSON.stringify(chunk))).join('');
  return { streamed: text, progress: answer.progress, ...answer.answer() };
}

const delta = (fields: object, finishReason: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason: finishReason }],
});
const calls = (...pieces: object[]) => delta({ tool_calls: pieces });
const whole = (name: string, args: unknown) => ({ type: 'function', function: { name, arguments: args } });

describe('a request to OpenAI', () => {
  it('has all of its fields in their places', () => {
    const tool = { name: 'x', description: 'X.', inputSchema: { type: 'object', properties: {} } };
    expect(body({ system: 'S', messages: [{ role: 'user', text: 'Hi' }], tools: [tool], jsonOutput: true })).toEqual({
      model: 'gpt-4o',
      max_tokens: 4096,
      messages: [
        { role: 'system', content: expect.stringMatching(/^S\n\n.*JSON/) },
        { role: 'user', content: 'Hi' },
      ],
      tools: [{ type: 'function', function: { name: 'x', description: 'X.', parameters: tool.inputSchema } }],
      tool_choice: 'auto',
      response_format: { type: 'json_object' },
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('limits the output of OpenAI itself in the way that its newer models insist on', () => {
    const built = body({}, 'https://api.openai.com/v1');
    expect(built).toMatchObject({ max_completion_tokens: 4096 });
    expect(built).not.toHaveProperty('max_tokens');
  });

  it.skipIf(!hasRecordings)('continues a tool loop as the recorded client did', () => {
    const messages = recordedMessages('openai', 'test_complex_agent_run.2');
    const country = { id: 'call_q2UyBRP7eXNTzAoR8lEhjc9Z', name: 'get_country' };
    const product = { id: 'call_b51ijcpFkDiTQG1bQzsrmtW5', name: 'get_product_name' };
    const weather = { id: 'call_LwxJUB9KppVyogRRLQsamRJv', name: 'get_weather' };
    const built = body({
      messages: [
        { role: 'user', text: 'Tell me: the capital of the country; the weather there; the product name' },
        {
          role: 'assistant',
          text: '',
          toolCalls: [
            { ...country, input: {} },
            { ...product, input: {} },
          ],
        },
        {
          role: 'tool',
          results: [
            { callId: country.id, name: country.name, text: 'Mexico', isError: false },
            { callId: product.id, name: product.name, text: 'Pydantic AI', isError: false },
          ],
        },
        { role: 'assistant', text: '', toolCalls: [{ ...weather, input: { city: 'Mexico City' } }] },
        { role: 'tool', results: [{ callId: weather.id, name: weather.name, text: 'sunny', isError: false }] },
      ],
    });
    expect(built['messages']).toEqual(messages);
  });

  it('sends an answer back with what its vendor has added', () => {
    const { raw } = fold([
      delta({ reasoning_content: 'hm' }),
      calls({ index: 0, id: 'c1', extra_content: { google: { thought_signature: 's' } }, ...whole('x', '{"a":1}') }),
    ]);
    const built = body({ messages: [{ role: 'assistant', text: '', toolCalls: [], raw }] });
    expect(built['messages']).toEqual([
      {
        role: 'assistant',
        reasoning_content: 'hm',
        tool_calls: [
          {
            id: 'c1',
            type: 'function',
            extra_content: { google: { thought_signature: 's' } },
            function: { name: 'x', arguments: '{"a":1}' },
          },
        ],
      },
    ]);
  });
});

describe('tool calls of the OpenAI protocol', () => {
  const a = { name: 'a', input: { q: 1 } };
  const b = { name: 'b', input: {} };

  it.each([
    [
      'in pieces, by index',
      [
        calls({ index: 0, id: 'c1', ...whole('a', '') }),
        calls({ index: 1, id: 'c2', ...whole('b', '') }),
        calls({ index: 0, function: { arguments: '{"q"' } }, { index: 1, function: { arguments: '{}' } }),
        calls({ index: 0, id: '', function: { name: '', arguments: ':1}' } }),
      ],
    ],
    [
      'in pieces that repeat id and name',
      [
        calls({ index: 0, id: 'c1', ...whole('a', '{"q"') }),
        calls({ index: 0, id: 'c1', ...whole('a', ':1}') }),
        calls({ index: 1, id: 'c2', ...whole('b', '{}') }),
      ],
    ],
    ['whole, without index', [calls({ id: 'c1', ...whole('a', '{"q":1}') }, { id: 'c2', ...whole('b', '') })]],
    [
      'whole, all under index 0',
      [calls({ index: 0, id: 'c1', ...whole('a', '{"q":1}') }), calls({ index: 0, id: 'c2', ...whole('b', '{}') })],
    ],
    [
      'whole, with objects as arguments',
      [calls({ id: 'c1', ...whole('a', { q: 1 }) }), calls({ id: 'c2', ...whole('b', null) })],
    ],
    [
      'in pieces without index, after a first one with id',
      [
        calls({ id: 'c1', ...whole('a', '{"q"') }),
        calls({ function: { arguments: ':1}' } }),
        calls({ id: 'c2', ...whole('b', '{}') }),
      ],
    ],
  ])('arrive %s', (_how, chunks) => {
    expect(fold(chunks).toolCalls).toEqual([
      { id: 'c1', ...a },
      { id: 'c2', ...b },
    ]);
  });

  it('without ids are given some, the same for the result and for the way back', () => {
    const { toolCalls, raw } = fold([calls({ id: '', ...whole('a', '{"q":1}') }, { id: '', ...whole('b', '{}') })]);
    const ids = toolCalls.map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
    expect(raw).toMatchObject({ message: { tool_calls: ids.map((id) => ({ id: expect.stringMatching(`^${id}$`) })) } });
    expect(ids[0]).toMatch(/^call_\w{24}$/);
  });

  it('with broken arguments say so, and go back as an empty object', () => {
    const { toolCalls, raw } = fold([calls({ index: 0, id: 'c1', ...whole('a', '{"q":') })]);
    expect(toolCalls).toEqual([{ id: 'c1', name: 'a', input: {}, invalidInput: '{"q":' }]);
    expect(raw).toMatchObject({ message: { tool_calls: [{ function: { arguments: '{}' } }] } });
  });
});

describe('an answer of the OpenAI protocol', () => {
  it('is estimated where the vendor says nothing of usage', () => {
    const { progress } = fold([delta({ content: 'x'.repeat(9) }, 'stop'), '[DONE]']);
    expect(usageSoFar(progress, 41)).toEqual({ inputTokens: 11, outputTokens: 3 });
  });

  it('takes the last figures of a vendor that counts along', () => {
    const { progress } = fold([
      { ...delta({ content: 'a' }), usage: { prompt_tokens: 7, completion_tokens: 1 } },
      { ...delta({ content: 'b' }, 'stop'), usage: { prompt_tokens: 7, completion_tokens: 2 } },
    ]);
    expect(usageSoFar(progress, 0)).toEqual({ inputTokens: 7, outputTokens: 2 });
    expect(progress).toMatchObject({ isWritten: true, isComplete: false });
  });

  it('may come in parts, or be a refusal', () => {
    expect(fold([delta({ content: [{ type: 'text', text: 'a' }, 'b', { type: 'image' }] })]).streamed).toBe('ab');
    expect(fold([delta({ refusal: 'I cannot.' })]).streamed).toBe('I cannot.');
    expect(fold([delta({}, 'content_filter')]).stopReason).toBe('refused');
    expect(fold([delta({}, 'length')]).stopReason).toBe('length');
  });

  it.each([
    [{ error: { message: 'Overloaded', code: 502 } }, 'Overloaded'],
    [{ error: 'bad' }, 'bad'],
    [{ error: {} }, 'it reported an error'],
    ['{"choices":', 'it sent an event that is not JSON'],
  ])('passes on the error %j in a stream', (chunk, failure) => {
    expect(fold([chunk]).progress.failure).toBe(failure);
  });

  it('survives whatever else is sent', () => {
    const odd = [
      '',
      'null',
      '[]',
      '{}',
      { choices: null },
      { choices: [null] },
      { choices: [{}] },
      { choices: [{ delta: null, finish_reason: 3 }] },
      delta({ content: 7, tool_calls: 'none' }),
      calls({}),
      { usage: { prompt_tokens: 1.5, completion_tokens: null }, error: null },
    ];
    const { progress, streamed } = fold(odd);
    expect(streamed).toBe('');
    expect(progress).toMatchObject({ failure: undefined, isWritten: false, inputTokens: undefined });
  });

  it('in one piece reads like a streamed one', () => {
    const message = { content: 'a', tool_calls: [{ id: 'c1', ...whole('x', '{"q":1}') }] };
    const answer = openAiChat.readWhole({
      choices: [{ message, finish_reason: 'tool_calls' }],
      usage: { prompt_tokens: 3, completion_tokens: 4 },
    });
    expect(answer.answer()).toMatchObject({
      text: 'a',
      toolCalls: [{ id: 'c1', name: 'x', input: { q: 1 } }],
      stopReason: 'tools',
    });
    expect(usageSoFar(answer.progress, 0)).toEqual({ inputTokens: 3, outputTokens: 4 });
    expect(openAiChat.readWhole({}).progress.isWritten).toBe(false);
  });
});

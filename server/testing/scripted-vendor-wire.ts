import type { AnswerTurn, VendorRequestRecord } from './scripted-vendor-turn.ts';

/** An event of a streamed answer; a fragment carries text and is paced. */
export interface WireEvent {
  sse: string;
  isFragment: boolean;
}

interface Answer {
  model: unknown;
  fragments: string[];
  toolCalls: { id: string; name: string; input: unknown }[];
  usage: { inputTokens: number; outputTokens: number };
  stopReason: string | undefined;
}

const MESSAGE_ID = 'msg_01scripted';
const CREATED = 1_767_225_600;

function answerOf(turn: AnswerTurn, request: VendorRequestRecord): Answer {
  const fragments = [turn.text ?? []].flat();
  const toolCalls = (turn.toolCalls ?? []).map((call, index) => ({ id: `call_scripted_${index + 1}`, ...call }));
  const written = fragments.join('').length + (toolCalls.length > 0 ? JSON.stringify(toolCalls).length : 0);
  const usage = turn.usage ?? { inputTokens: Math.ceil(request.length / 4), outputTokens: Math.ceil(written / 4) };
  return { model: request.body['model'], fragments, toolCalls, usage, stopReason: turn.stopReason };
}

/** The answer in one piece. */
export function wholeAnswer(turn: AnswerTurn, request: VendorRequestRecord): unknown {
  const answer = answerOf(turn, request);
  return request.protocol === 'anthropic' ? anthropicWhole(answer) : openAiWhole(answer);
}

/** The answer as the events of a stream. */
export function streamedAnswer(turn: AnswerTurn, request: VendorRequestRecord): WireEvent[] {
  const answer = answerOf(turn, request);
  if (request.protocol === 'anthropic') return anthropicEvents(answer);
  const options = request.body['stream_options'];
  const withUsage = typeof options === 'object' && options !== null && 'include_usage' in options;
  return openAiEvents(answer, withUsage && options.include_usage === true);
}

/** The event that reports an error in the middle of a stream. */
export function errorEvent(protocol: VendorRequestRecord['protocol'], message: string): string {
  if (protocol === 'openai') return openAi({ error: { message, type: 'server_error', param: null, code: null } });
  return anthropic({ type: 'error', error: { type: 'overloaded_error', message } });
}

const ANTHROPIC_ERRORS: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** The body of a refusal, in the vendor's form. */
export function errorBody(protocol: VendorRequestRecord['protocol'], status: number, message: string): string {
  if (protocol === 'openai') {
    return JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: null } });
  }
  const type = ANTHROPIC_ERRORS[status] ?? 'api_error';
  return JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_scripted' });
}

function anthropic(event: { type: string; [field: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function openAi(chunk: object): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

function plain(sse: string): WireEvent {
  return { sse, isFragment: false };
}

function anthropicUsage(usage: Answer['usage']) {
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: usage.outputTokens,
  };
}

function anthropicStop({ stopReason, toolCalls }: Answer): string {
  return stopReason ?? (toolCalls.length > 0 ? 'tool_use' : 'end_turn');
}

function anthropicWhole(answer: Answer) {
  const text = answer.fragments.join('');
  return {
    id: MESSAGE_ID,
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content: [
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...answer.toolCalls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
    ],
    stop_reason: anthropicStop(answer),
    stop_sequence: null,
    usage: anthropicUsage(answer.usage),
  };
}

function anthropicEvents(answer: Answer): WireEvent[] {
  const { model, fragments, toolCalls, usage } = answer;
  const message = { id: MESSAGE_ID, type: 'message', role: 'assistant', model, content: [], stop_reason: null };
  const started = { ...message, usage: anthropicUsage({ ...usage, outputTokens: 1 }) };
  const events = [plain(anthropic({ type: 'message_start', message: started }))];
  let index = 0;
  if (fragments.length > 0) {
    events.push(...anthropicText(index, fragments));
    index++;
  }
  for (const call of toolCalls) {
    events.push(...anthropicToolCall(index, call));
    index++;
  }
  const delta = { stop_reason: anthropicStop(answer), stop_sequence: null };
  events.push(
    plain(anthropic({ type: 'message_delta', delta, usage: anthropicUsage(usage) })),
    plain(anthropic({ type: 'message_stop' })),
  );
  return events;
}

function anthropicText(index: number, fragments: string[]): WireEvent[] {
  return [
    plain(anthropic({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } })),
    plain(anthropic({ type: 'ping' })),
    ...fragments.map((text) => ({
      sse: anthropic({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } }),
      isFragment: true,
    })),
    plain(anthropic({ type: 'content_block_stop', index })),
  ];
}

function anthropicToolCall(index: number, { id, name, input }: Answer['toolCalls'][number]): WireEvent[] {
  const start = { type: 'tool_use', id, name, input: {} };
  const deltas = inTwo(JSON.stringify(input)).map((partial) => ({ type: 'input_json_delta', partial_json: partial }));
  return [
    plain(anthropic({ type: 'content_block_start', index, content_block: start })),
    ...deltas.map((delta) => plain(anthropic({ type: 'content_block_delta', index, delta }))),
    plain(anthropic({ type: 'content_block_stop', index })),
  ];
}

function inTwo(text: string): string[] {
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

function openAiUsage({ inputTokens, outputTokens }: Answer['usage']) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

function openAiStop({ stopReason, toolCalls }: Answer): string {
  return stopReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop');
}

function openAiWhole(answer: Answer) {
  const { model, fragments, toolCalls, usage } = answer;
  const message = {
    role: 'assistant',
    content: fragments.join('') || null,
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map(({ id, name, input }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(input) },
      })),
    }),
  };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: openAiStop(answer) }];
  return { id: MESSAGE_ID, object: 'chat.completion', created: CREATED, model, choices, usage: openAiUsage(usage) };
}

function openAiEvents(answer: Answer, withUsage: boolean): WireEvent[] {
  const { model, fragments, toolCalls, usage } = answer;
  const head = { id: MESSAGE_ID, object: 'chat.completion.chunk', created: CREATED, model };
  const chunk = (delta: object, finishReason: string | null = null) =>
    openAi({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }], usage: null });
  return [
    plain(chunk({ role: 'assistant', content: toolCalls.length > 0 ? null : '' })),
    ...fragments.map((content) => ({ sse: chunk({ content }), isFragment: true })),
    ...toolCalls.flatMap((call, index) => openAiToolDeltas(call, index).map((delta) => plain(chunk(delta)))),
    plain(chunk({}, openAiStop(answer))),
    ...(withUsage ? [plain(openAi({ ...head, choices: [], usage: openAiUsage(usage) }))] : []),
    plain('data: [DONE]\n\n'),
  ];
}

function openAiToolDeltas({ id, name, input }: Answer['toolCalls'][number], index: number): object[] {
  const pieces = inTwo(JSON.stringify(input));
  return [
    { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
    ...pieces.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ];
}

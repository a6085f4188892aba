import { Type, type Static } from 'typebox';
import { defineRoute } from '../shared/route.ts';
import { JsonObject, JsonValue, Name, OneOf, Text } from '../shared/schemas.ts';
import { Execution } from './tools.ts';

const MESSAGE_LENGTH = 2_000_000;

const ExtraTool = Type.Object({
  name: Name({ description: 'Hides a registered tool of the same name for this request.', examples: ['get_weather'] }),
  description: Type.Optional(Text({ description: 'The AI decides by it when to call the tool.' })),
  input_schema: Type.Optional(JsonObject),
  execution: Type.Optional(Execution),
});

const ChatBody = Type.Object(
  {
    message: Type.String({ minLength: 1, maxLength: MESSAGE_LENGTH, examples: ['Where is order 4711?'] }),
    model: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'Default: the default model.' })),
    systemPrompt: Type.Optional(Text({ description: 'Default: a general assistant, in Chinese.', maxLength: 500_000 })),
    appContext: Type.Optional(Name({ description: 'Limits the tools to those of this app.', examples: ['crm'] })),
    tools: Type.Optional(Type.Array(ExtraTool, { maxItems: 128, description: 'Tools for this request alone.' })),
    conversationId: Type.Optional(
      Name({ description: 'Any id you choose; requests that share it continue one conversation.', examples: ['c-1'] }),
    ),
  },
  { examples: [{ message: 'Where is order 4711?', appContext: 'crm', conversationId: 'c-1' }] },
);
export type ChatBody = Static<typeof ChatBody>;

const Usage = Type.Object({
  inputTokens: Type.Integer({ minimum: 0, examples: [120] }),
  outputTokens: Type.Integer({ minimum: 0, examples: [18] }),
});

/** What keeps a model from being asked. */
const REFUSALS = ['INVALID_REQUEST', 'INVALID_JSON', 'AI_NOT_CONFIGURED', 'MODEL_NOT_ALLOWED'] as const;
const MODEL_ERRORS = [...REFUSALS, 'AI_CALL_FAILED', 'UNAVAILABLE'] as const;

export const chat = defineRoute({
  id: 'chat',
  method: 'POST',
  path: '/v1/ai/chat',
  tag: 'AI',
  summary: 'Ask a question; the model may call tools',
  permission: 'read',
  status: 200,
  body: ChatBody,
  response: Type.Object({
    response: Type.String({ examples: ['Order 4711 left Hamburg this morning.'] }),
    model: Type.String({ description: 'The model that answered.', examples: ['neutral-sonnet-4-20250514'] }),
    usage: Usage,
  }),
  errors: MODEL_ERRORS,
});

export const ChatStreamEvent = Type.Union(
  [
    Type.Object({ type: Type.Literal('stream'), text: Type.String() }),
    Type.Object({
      type: Type.Literal('done'),
      usage: Type.Object({ input_tokens: Type.Integer(), output_tokens: Type.Integer() }),
    }),
    Type.Object({ type: Type.Literal('error'), message: Type.String() }),
  ],
  {
    examples: [
      { type: 'stream', text: 'Order 4711 left ' },
      { type: 'stream', text: 'Hamburg this morning.' },
      { type: 'done', usage: { input_tokens: 120, output_tokens: 18 } },
    ],
  },
);
export type ChatStreamEvent = Static<typeof ChatStreamEvent>;

export const chatStream = defineRoute({
  id: 'chatStream',
  method: 'POST',
  path: '/v1/ai/chat/stream',
  tag: 'AI',
  summary: 'Ask a question; the answer comes in fragments as they are made',
  description:
    'Each event is a line `data: <JSON>` and a blank line: `stream` with text, at the end `done` with usage or `error` with a message. A line that starts with a colon only keeps the connection alive.',
  permission: 'read',
  status: 200,
  body: ChatBody,
  response: ChatStreamEvent,
  streams: true,
  // What happens after its first byte comes as an event.
  errors: REFUSALS,
});

export const toolCall = defineRoute({
  id: 'toolCall',
  method: 'POST',
  path: '/v1/ai/tool-call',
  tag: 'AI',
  summary: 'Call a registered tool without AI reasoning',
  description: 'The 404 carries a message alone, without a code.',
  permission: 'write',
  status: 200,
  body: Type.Object(
    {
      tool: Type.String({ minLength: 1, description: 'The name of the tool.', examples: ['get_order'] }),
      input: Type.Optional(JsonObject),
    },
    { examples: [{ tool: 'get_order', input: { orderId: '4711' } }] },
  ),
  response: Type.Object(
    { status: OneOf(['success']), result: JsonValue },
    { examples: [{ status: 'success', result: { orderId: '4711', state: 'shipped' } }] },
  ),
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'NOT_FOUND', 'TOOL_FAILED'],
  errorsWithoutCode: ['NOT_FOUND'],
});

const ANALYSIS_FORMATS = ['text', 'markdown', 'json'] as const;

export const analyze = defineRoute({
  id: 'analyze',
  method: 'POST',
  path: '/v1/ai/analyze',
  tag: 'AI',
  summary: 'Have the default model analyse data',
  description:
    'A list of objects, or CSV text with a line of names, is a table: its profile (types, counts, ranges), computed over all rows, goes to the model with it. Data that is too large for the model is cut, and the model is told what was left out. With `outputFormat: "json"` the analysis is text that parses as JSON.',
  permission: 'read',
  status: 200,
  body: Type.Object(
    {
      data: Type.Union([JsonObject, Type.Array(JsonValue), Type.String({ minLength: 1 })], {
        description: 'What is to be analysed.',
        examples: [[{ month: '2026-01', revenue: 1200 }]],
      }),
      prompt: Type.String({
        minLength: 1,
        maxLength: 100_000,
        description: 'What to find out.',
        examples: ['Which month was best?'],
      }),
      outputFormat: Type.Optional(OneOf(ANALYSIS_FORMATS, { default: 'text', description: 'Form of the analysis.' })),
    },
    { examples: [{ data: [{ month: '2026-01', revenue: 1200 }], prompt: 'Which month was best?' }] },
  ),
  response: Type.Object({
    analysis: Type.String({ examples: ['January, with a revenue of 1,200.'] }),
    model: Type.String({ description: 'The model that answered.', examples: ['neutral-sonnet-4-20250514'] }),
    usage: Usage,
  }),
  errors: MODEL_ERRORS,
});

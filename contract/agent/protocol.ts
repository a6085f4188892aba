import { Type, type Static } from 'typebox';
import { JsonObject, JsonValue, Name, OneOf } from '../shared/schemas.ts';
import { AGENT_LIMITS } from './limits.ts';

/** Version of the messages. An agent names it first; a service that does not speak it says so and closes. */
export const AGENT_PROTOCOL = 1;

/** Where agents connect, by WebSocket. */
export const AGENT_PATH = '/v1/agents/connect';

const CallId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Names one call on this connection.',
  examples: ['call_01kagc2y5jv6f3w9c0m4x7t8zb'],
});
const HandlerName = Name({ description: 'The name of the tool that it runs.', examples: ['read_file'] });
const Reason = Type.String({
  maxLength: AGENT_LIMITS.textLength,
  description: 'A sentence for people.',
  examples: ['The service is stopping.'],
});

export const Handler = Type.Object({
  name: HandlerName,
  description: Type.String({
    maxLength: 20_000,
    description: 'What it does.',
    examples: ['Reads a text file below the shared folder.'],
  }),
  input_schema: Type.Unsafe<Record<string, unknown>>({
    ...JsonObject,
    description: 'JSON Schema of the input.',
    examples: [{ type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }],
  }),
});
export type Handler = Static<typeof Handler>;

/** The first message, from the agent. */
export const Hello = Type.Object({
  type: Type.Literal('hello'),
  protocol: Type.Integer({ description: 'Version of the messages.', examples: [AGENT_PROTOCOL] }),
  agentName: Name({ description: 'Shown in lists and messages.', examples: ['workshop-pc'] }),
  handlers: Type.Array(Handler, { maxItems: AGENT_LIMITS.handlers }),
});
export type Hello = Static<typeof Hello>;

/** The answer to hello: from now on there may be calls. */
const Welcome = Type.Object({
  type: Type.Literal('welcome'),
  agentId: Type.String({ examples: ['agent_01kagc2y5jv6f3w9c0m4x7t8zb'] }),
  heartbeatMs: Type.Integer({
    minimum: 1,
    description: 'The service sends a WebSocket ping this often; two that are not answered end the connection.',
    examples: [10_000],
  }),
});

/** Run a handler. */
export const Call = Type.Object({
  type: Type.Literal('call'),
  callId: CallId,
  handler: HandlerName,
  input: Type.Unsafe<Record<string, unknown>>({ ...JsonObject, examples: [{ path: 'notes.txt' }] }),
  deadlineMs: Type.Integer({
    minimum: 0,
    description: 'Milliseconds until nobody waits for the result any more.',
    examples: [60_000],
  }),
});
export type Call = Static<typeof Call>;

/** Nobody waits for the result any more. */
const Cancel = Type.Object({ type: Type.Literal('cancel'), callId: CallId });

/** How a call ended, once for each call. */
export const Result = Type.Object({
  type: Type.Literal('result'),
  callId: CallId,
  status: OneOf(['success', 'error']),
  result: Type.Optional(JsonValue),
  error: Type.Optional(
    Type.String({
      maxLength: AGENT_LIMITS.textLength,
      description: 'What went wrong, for status "error".',
      examples: ['There is no file notes.txt.'],
    }),
  ),
});
export type Result = Static<typeof Result>;

/**
 * Whoever sends it wants to part. The service sends no further call, and closes the connection when the calls that it
 * has sent are over; until then the agent runs them.
 */
const Bye = Type.Object({ type: Type.Literal('bye'), reason: Reason });

/** What an agent sends. */
export const AgentMessage = Type.Union([Result, Hello, Bye]);
export type AgentMessage = Static<typeof AgentMessage>;

/** What the service sends. */
export const ServiceMessage = Type.Union([Call, Welcome, Cancel, Bye]);
export type ServiceMessage = Static<typeof ServiceMessage>;

import { Type, type Static } from 'typebox';
import { defineRoute } from '../shared/route.ts';
import { JsonObject, JsonValue, Name, OneOf, PathParam, Success, Text, Timestamp } from '../shared/schemas.ts';

export const TOOL_METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const;

export const Execution = Type.Object(
  {
    type: OneOf(['http', 'handler'], { description: 'An HTTP call, or a handler that a desktop agent runs.' }),
    method: Type.Optional(OneOf(TOOL_METHODS, { description: 'Default POST where there is a body, else GET.' })),
    url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 8192,
        description:
          'http or https; `{param}` is filled from the input, percent-encoded, and never in the host. A relative address is joined to the baseUrl of the owning app.',
        examples: ['https://api.example.com/orders/{orderId}'],
      }),
    ),
    headers: Type.Optional(JsonObject),
    params: Type.Optional(JsonObject),
    body: Type.Optional(JsonObject),
  },
  { examples: [{ type: 'http', method: 'GET', url: 'https://api.example.com/orders/{orderId}' }] },
);
export type Execution = Static<typeof Execution>;

const ToolName = Name({ description: 'Unique for the developer.', examples: ['get_order'] });
const Description = Type.String({
  minLength: 1,
  maxLength: 20_000,
  description: 'The AI decides by it when to call the tool.',
  examples: ['Reads one order by its id.'],
});
const ORDER_INPUT = { type: 'object', properties: { orderId: { type: 'string' } }, required: ['orderId'] };
const InputSchema = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description: 'JSON Schema (draft 2020-12 or 7) of the input.',
  examples: [ORDER_INPUT],
});

export const Tool = Type.Object({
  _id: Type.String({ examples: ['tool_01kagc2y5jv6f3w9c0m4x7t8zb'] }),
  name: Type.String({ examples: ['get_order'] }),
  description: Type.String({ examples: ['Reads one order by its id.'] }),
  appId: Type.Optional(Type.String({ examples: ['crm'] })),
  developerId: Type.String({ examples: ['dev_01kagc2y5jv6f3w9c0m4x7t8zb'] }),
  input_schema: Type.Unsafe<Record<string, unknown>>({ ...JsonObject, examples: [ORDER_INPUT] }),
  execution: Type.Optional(Execution),
  enabled: Type.Boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  updated: Type.Optional(Type.Literal(true, { description: 'Only when registering changed an existing tool.' })),
});
export type Tool = Static<typeof Tool>;

const AppId = Name({ description: 'The app that owns the tool.', examples: ['crm'] });

export const registerTool = defineRoute({
  id: 'registerTool',
  method: 'POST',
  path: '/v1/tools',
  tag: 'Tools',
  summary: 'Register a tool, or update the one of that name',
  permission: 'write',
  status: 201,
  body: Type.Object({
    name: ToolName,
    description: Description,
    appId: Type.Optional(AppId),
    input_schema: Type.Optional(InputSchema),
    execution: Type.Optional(Execution),
  }),
  response: Tool,
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'CONFLICT'],
});

export const listTools = defineRoute({
  id: 'listTools',
  method: 'GET',
  path: '/v1/tools',
  tag: 'Tools',
  summary: 'List the tools',
  description:
    'In order of name. All of them, unless `limit` is given; `nextCursor` is then present while there are more.',
  permission: 'read',
  status: 200,
  query: Type.Object({
    appId: Type.Optional(Type.String({ description: 'Only tools of this app.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    cursor: Type.Optional(Type.String({ description: 'The nextCursor of the page before.' })),
  }),
  response: Type.Object({
    tools: Type.Array(Type.Omit(Tool, ['developerId', 'input_schema', 'execution', 'createdAt', 'updated'])),
    total: Type.Integer({ description: 'How many there are, on all pages.', examples: [1] }),
    nextCursor: Type.Optional(Type.String()),
  }),
  errors: ['INVALID_REQUEST'],
});

const NameParam = PathParam('name', 'The name of the tool.');

export const getTool = defineRoute({
  id: 'getTool',
  method: 'GET',
  path: '/v1/tools/{name}',
  tag: 'Tools',
  summary: 'Read a tool',
  permission: 'read',
  status: 200,
  params: NameParam,
  response: Tool,
  errors: ['NOT_FOUND'],
});

export const updateTool = defineRoute({
  id: 'updateTool',
  method: 'PUT',
  path: '/v1/tools/{name}',
  tag: 'Tools',
  summary: 'Change a tool',
  description: 'Fields that are absent stay as they are. `appId: null` takes the tool out of its app.',
  permission: 'write',
  status: 200,
  params: NameParam,
  body: Type.Object({
    description: Type.Optional(Description),
    input_schema: Type.Optional(InputSchema),
    execution: Type.Optional(Execution),
    enabled: Type.Optional(Type.Boolean()),
    appId: Type.Optional(Type.Union([AppId, Type.Null()])),
  }),
  response: Tool,
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'NOT_FOUND', 'CONFLICT'],
});

export const deleteTool = defineRoute({
  id: 'deleteTool',
  method: 'DELETE',
  path: '/v1/tools/{name}',
  tag: 'Tools',
  summary: 'Delete a tool',
  permission: 'write',
  status: 200,
  params: NameParam,
  response: Success,
  errors: ['NOT_FOUND'],
});

const ElapsedMs = Type.Number({ minimum: 0, examples: [12] });

export const testTool = defineRoute({
  id: 'testTool',
  method: 'POST',
  path: '/v1/tools/{name}/test',
  tag: 'Tools',
  summary: 'Try a tool with a real call',
  description: 'A tool that fails, or an input that breaks its schema, is a 200 with status "error".',
  permission: 'write',
  status: 200,
  params: NameParam,
  body: Type.Object({ input: Type.Optional(JsonObject) }, { examples: [{ input: { orderId: '4711' } }] }),
  response: Type.Object(
    {
      status: OneOf(['success', 'error']),
      result: Type.Optional(JsonValue),
      error: Type.Optional(Text({ description: 'What went wrong.' })),
      elapsed_ms: ElapsedMs,
    },
    { examples: [{ status: 'success', result: { orderId: '4711', state: 'shipped' }, elapsed_ms: 12 }] },
  ),
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'NOT_FOUND'],
});

import { Type, type Static } from 'typebox';
import { LIMITS } from '../shared/limits.ts';
import { defineRoute } from '../shared/route.ts';
import { Name, OneOf, PathParam, Success, Text, Timestamp } from '../shared/schemas.ts';

const PACK_STATUSES = ['draft', 'published'] as const;

const MAX_TOOLS = 1000;

const NameZh = Type.String({
  maxLength: LIMITS.nameLength,
  description: 'The Chinese name.',
  examples: ['订单工具'],
});
const Description = Text({ description: 'What the pack is for.', examples: ['Reads and changes orders.'] });
const ToolNames = Type.Array(Name({ description: 'The name of a tool.', examples: ['get_order'] }), {
  maxItems: MAX_TOOLS,
  description: 'Names of tools; a name that no tool has yet takes effect once there is one.',
});
const Knowledge = Text({
  description: 'What the AI should know when it works with these tools.',
  examples: ['An order that has shipped can no longer be cancelled.'],
});

export const ToolPack = Type.Object({
  _id: Type.String({ examples: ['pack_01kagc2y5jv6f3w9c0m4x7t8zb'] }),
  packId: Type.String({ description: 'The id given when it was created.', examples: ['orders'] }),
  name: Type.String({ examples: ['Order tools'] }),
  nameZh: NameZh,
  description: Description,
  tools: ToolNames,
  knowledge: Knowledge,
  status: OneOf(PACK_STATUSES),
  createdAt: Timestamp,
});
export type ToolPack = Static<typeof ToolPack>;

const PackName = Name({ description: 'The English name.', examples: ['Order tools'] });

export const createToolPack = defineRoute({
  id: 'createToolPack',
  method: 'POST',
  path: '/v1/tools/packs',
  tag: 'Tools',
  summary: 'Create a tool pack',
  description: 'An id that is taken is refused with 409.',
  permission: 'write',
  status: 201,
  body: Type.Object({
    id: Name({ description: 'Unique for the developer.', examples: ['orders'] }),
    name: PackName,
    nameZh: Type.Optional(NameZh),
    description: Type.Optional(Description),
    tools: Type.Optional(ToolNames),
    knowledge: Type.Optional(Knowledge),
  }),
  response: ToolPack,
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'CONFLICT'],
});

export const listToolPacks = defineRoute({
  id: 'listToolPacks',
  method: 'GET',
  path: '/v1/tools/packs',
  tag: 'Tools',
  summary: 'List the tool packs',
  description:
    'In order of id. All of them, unless `limit` is given; `nextCursor` is then present while there are more.',
  permission: 'read',
  status: 200,
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    cursor: Type.Optional(Type.String({ description: 'The nextCursor of the page before.' })),
  }),
  response: Type.Object({
    packs: Type.Array(Type.Omit(ToolPack, ['description', 'knowledge', 'createdAt'])),
    nextCursor: Type.Optional(Type.String()),
  }),
  errors: ['INVALID_REQUEST'],
});

const IdParam = PathParam('id', 'The packId.');

export const getToolPack = defineRoute({
  id: 'getToolPack',
  method: 'GET',
  path: '/v1/tools/packs/{id}',
  tag: 'Tools',
  summary: 'Read a tool pack',
  permission: 'read',
  status: 200,
  params: IdParam,
  response: ToolPack,
  errors: ['NOT_FOUND'],
});

export const updateToolPack = defineRoute({
  id: 'updateToolPack',
  method: 'PUT',
  path: '/v1/tools/packs/{id}',
  tag: 'Tools',
  summary: 'Change a tool pack',
  description: 'Fields that are absent stay as they are.',
  permission: 'write',
  status: 200,
  params: IdParam,
  body: Type.Object({
    name: Type.Optional(PackName),
    nameZh: Type.Optional(NameZh),
    description: Type.Optional(Description),
    tools: Type.Optional(ToolNames),
    knowledge: Type.Optional(Knowledge),
    status: Type.Optional(OneOf(PACK_STATUSES)),
  }),
  response: ToolPack,
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'NOT_FOUND'],
});

export const deleteToolPack = defineRoute({
  id: 'deleteToolPack',
  method: 'DELETE',
  path: '/v1/tools/packs/{id}',
  tag: 'Tools',
  summary: 'Delete a tool pack',
  description: 'Its tools stay.',
  permission: 'write',
  status: 200,
  params: IdParam,
  response: Success,
  errors: ['NOT_FOUND'],
});

export const publishToolPack = defineRoute({
  id: 'publishToolPack',
  method: 'POST',
  path: '/v1/tools/packs/{id}/publish',
  tag: 'Tools',
  summary: 'Publish a tool pack',
  permission: 'write',
  status: 200,
  params: IdParam,
  response: Type.Object({ success: Type.Literal(true), status: OneOf(['published']) }),
  errors: ['NOT_FOUND'],
});

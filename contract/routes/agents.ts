import { Type, type Static } from 'typebox';
import { defineRoute } from '../shared/route.ts';
import { Timestamp } from '../shared/schemas.ts';

export const Agent = Type.Object({
  _id: Type.String({ examples: ['agent_01kagc2y5jv6f3w9c0m4x7t8zb'] }),
  name: Type.String({ examples: ['workshop-pc'] }),
  handlers: Type.Array(Type.String(), {
    description: 'Names of the handler tools that it runs.',
    examples: [['read_file', 'list_files']],
  }),
  connectedAt: Timestamp,
  lastSeenAt: Timestamp,
});
export type Agent = Static<typeof Agent>;

export const listAgents = defineRoute({
  id: 'listAgents',
  method: 'GET',
  path: '/v1/agents',
  tag: 'Agents',
  summary: 'List the connected desktop agents',
  description: 'Those of the calling developer, whichever process of the service they are connected to; oldest first.',
  permission: 'read',
  status: 200,
  response: Type.Object({ agents: Type.Array(Agent) }),
  errors: [],
});

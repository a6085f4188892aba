import { Type, type Static, type TSchema } from 'typebox';
import { JsonObject, PathParam } from './schemas.ts';

/** Sizes and counts of graphs. */
export const GRAPH_LIMITS = {
  /** Characters of a name or an externalId. */
  nameLength: 256,
  /** Characters of a type or a relation. */
  wordLength: 128,
  /** Bytes of the body of a sync. */
  syncBytes: 64 * 1024 * 1024,
  depth: 3,
  /** Nodes that one traversal visits. */
  visited: 10_000,
  /** Edges that one traversal tells of. */
  edges: 50_000,
  /** Neighbours that one search tells of. */
  neighbors: 1000,
} as const;

export const DIRECTIONS = ['outgoing', 'incoming', 'both'] as const;
export type Direction = (typeof DIRECTIONS)[number];

export const Reference = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: GRAPH_LIMITS.nameLength, description, examples: [example] });
export const Word = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: GRAPH_LIMITS.wordLength, description, examples: [example] });
export const Properties = (description: string, example: object) =>
  Type.Unsafe<Record<string, unknown>>({ ...JsonObject, description, examples: [example] });
export const Limit = (description: string) => Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description }));
export const Cursor = Type.Optional(Type.String({ description: 'The nextCursor of the page before.' }));
export const NextCursor = Type.Optional(Type.String({ description: 'Present while there are more.' }));
export const GraphId = Type.String({ examples: ['crm'] });
export const Total = Type.Integer({ minimum: 0, description: 'How many there are, on all pages.', examples: [1] });
export const Truncated = (description: string) => Type.Boolean({ description, examples: [false] });

export const nodeFields = {
  objectType: Type.String({ examples: ['Person'] }),
  name: Type.String({ examples: ['Ada Lovelace'] }),
  externalId: Type.String({ examples: ['Ada_Lovelace'] }),
  properties: Properties('As they were written.', { born: 1815 }),
};
export const GraphNode = Type.Object({ appId: GraphId, ...nodeFields });
export type GraphNode = Static<typeof GraphNode>;

export const edgeFields = {
  from: Type.String({ description: 'externalId; of a pending edge as it was written.', examples: ['Ada_Lovelace'] }),
  to: Type.String({ description: 'externalId; of a pending edge as it was written.', examples: ['London'] }),
  relation: Type.String({ examples: ['LOCATED_IN'] }),
  properties: Properties('As they were written.', { since: 1835 }),
};
export const GraphEdge = Type.Object({
  appId: GraphId,
  ...edgeFields,
  pending: Type.Optional(
    Type.Literal(true, { description: 'Only while a node at one of its ends does not exist yet.' }),
  ),
});
export type GraphEdge = Static<typeof GraphEdge>;

const Counts = (examples: Record<string, number>, description: string) =>
  Type.Unsafe<Record<string, number>>({
    type: 'object',
    additionalProperties: { type: 'integer', minimum: 0 },
    description,
    examples: [examples],
  });
export const Count = (description: string, example: number) =>
  Type.Integer({ minimum: 0, description, examples: [example] });

export const GraphStats = Type.Object({
  appId: GraphId,
  nodeCount: Count('Nodes.', 120),
  edgeCount: Count('Edges between nodes that exist.', 340),
  pendingEdgeCount: Count('Edges that wait for a node.', 0),
  objectTypes: Counts({ Person: 100, City: 20 }, 'Nodes of each type.'),
  relations: Counts({ LOCATED_IN: 340 }, 'Edges of each relation, without those that are pending.'),
});
export type GraphStats = Static<typeof GraphStats>;

const nodeInput = {
  type: Word('Type of the node.', 'Person'),
  name: Reference('Need not be unique.', 'Ada Lovelace'),
  externalId: Type.Optional(
    Reference('Names the node within the graph. Default: the name, trimmed, white space as `_`.', 'Ada_Lovelace'),
  ),
  properties: Type.Optional(Properties('Replace those of an existing node; absent, they stay.', { born: 1815 })),
};
const edgeInput = {
  from: Reference('The externalId of a node, else its name.', 'Ada Lovelace'),
  to: Reference('The externalId of a node, else its name.', 'London'),
  relation: Word('Such as LOCATED_IN, REPORTS_TO, PART_OF.', 'LOCATED_IN'),
  properties: Type.Optional(Properties('Replace those of an existing edge; absent, they stay.', { since: 1835 })),
};
export const NodeInput = Type.Object(nodeInput);
export type NodeInput = Static<typeof NodeInput>;
export const EdgeInput = Type.Object(edgeInput);
export type EdgeInput = Static<typeof EdgeInput>;

const GraphParam = PathParam('id', 'The id of the graph: an appId, or any other name.');

export function graphRoute<const R extends { query?: TSchema; body?: TSchema; response: TSchema }>(route: R) {
  return { tag: 'Graph' as const, params: GraphParam, ...route };
}

export const SyncBody = Type.Object({
  nodes: Type.Optional(Type.Array(NodeInput)),
  edges: Type.Optional(Type.Array(EdgeInput)),
});

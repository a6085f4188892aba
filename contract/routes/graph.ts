import { Type } from 'typebox';
import {
  Count,
  Cursor,
  DIRECTIONS,
  EdgeInput,
  GRAPH_LIMITS,
  GraphEdge,
  GraphId,
  GraphNode,
  GraphStats,
  Limit,
  NextCursor,
  NodeInput,
  Properties,
  Reference,
  SyncBody,
  Total,
  Truncated,
  Word,
  edgeFields,
  graphRoute,
  nodeFields,
} from '../shared/graph-shapes.ts';
import { defineRoute } from '../shared/route.ts';
import { OneOf, Success } from '../shared/schemas.ts';

export const listGraphs = defineRoute({
  id: 'listGraphs',
  method: 'GET',
  path: '/v1/graph',
  tag: 'Graph',
  summary: 'List the graphs with their statistics',
  description: 'In order of appId. All of them, unless `limit` is given.',
  permission: 'read',
  status: 200,
  query: Type.Object({
    app_id: Type.Optional(Type.String({ description: 'Only this graph.' })),
    limit: Limit('Default all.'),
    cursor: Cursor,
  }),
  response: Type.Object({ graphs: Type.Array(GraphStats), nextCursor: NextCursor }),
  errors: ['INVALID_REQUEST'],
});

export const getGraphStats = defineRoute({
  ...graphRoute({ response: GraphStats }),
  id: 'getGraphStats',
  method: 'GET',
  path: '/v1/graph/{id}/stats',
  summary: 'Read the statistics of a graph',
  description: 'Of a graph that nothing was written to, they are 0.',
  permission: 'read',
  status: 200,
  errors: [],
});

export const deleteGraph = defineRoute({
  ...graphRoute({ response: Success }),
  id: 'deleteGraph',
  method: 'DELETE',
  path: '/v1/graph/{id}',
  summary: 'Delete a graph with everything in it',
  permission: 'write',
  status: 200,
  errors: ['NOT_FOUND'],
});

export const writeGraphNode = defineRoute({
  ...graphRoute({ body: NodeInput, response: GraphNode }),
  id: 'writeGraphNode',
  method: 'POST',
  path: '/v1/graph/{id}/nodes',
  summary: 'Create a node, or update the one of that externalId',
  description: 'Pending edges that wait for this node are connected.',
  permission: 'write',
  status: 201,
  errors: ['INVALID_REQUEST', 'INVALID_JSON'],
});

export const listGraphNodes = defineRoute({
  ...graphRoute({
    query: Type.Object({
      object_type: Type.Optional(Type.String({ description: 'Only nodes of this type.' })),
      name: Type.Optional(
        Type.String({
          maxLength: GRAPH_LIMITS.nameLength,
          description: 'Only nodes of a similar name, the most similar first.',
        }),
      ),
      properties: Type.Optional(
        Type.String({ description: 'A JSON object: only nodes whose properties contain it, such as `{"born":1815}`.' }),
      ),
      limit: Limit('Default 100.'),
      cursor: Cursor,
    }),
    response: Type.Object({ nodes: Type.Array(GraphNode), total: Total, nextCursor: NextCursor }),
  }),
  id: 'listGraphNodes',
  method: 'GET',
  path: '/v1/graph/{id}/nodes',
  summary: 'List nodes',
  description: 'In order of externalId, unless a name is asked for.',
  permission: 'read',
  status: 200,
  errors: ['INVALID_REQUEST'],
});

const NodeParam = Type.Object({
  id: Type.String({ minLength: 1, description: 'The id of the graph.' }),
  externalId: Type.String({ minLength: 1, description: 'The externalId of the node.' }),
});

export const getGraphNode = defineRoute({
  ...graphRoute({ response: GraphNode }),
  params: NodeParam,
  id: 'getGraphNode',
  method: 'GET',
  path: '/v1/graph/{id}/nodes/{externalId}',
  summary: 'Read a node',
  permission: 'read',
  status: 200,
  errors: ['NOT_FOUND'],
});

export const deleteGraphNode = defineRoute({
  ...graphRoute({ response: Success }),
  params: NodeParam,
  id: 'deleteGraphNode',
  method: 'DELETE',
  path: '/v1/graph/{id}/nodes/{externalId}',
  summary: 'Delete a node and its edges',
  permission: 'write',
  status: 200,
  errors: ['NOT_FOUND'],
});

export const writeGraphEdge = defineRoute({
  ...graphRoute({ body: EdgeInput, response: GraphEdge }),
  id: 'writeGraphEdge',
  method: 'POST',
  path: '/v1/graph/{id}/edges',
  summary: 'Create an edge, or update the one of that relation between the two nodes',
  description:
    'An end that does not exist yet makes the edge pending; it is connected when the node is written. A name that several nodes have is refused.',
  permission: 'write',
  status: 201,
  errors: ['INVALID_REQUEST', 'INVALID_JSON'],
});

export const listGraphEdges = defineRoute({
  ...graphRoute({
    query: Type.Object({
      from: Type.Optional(Type.String({ description: 'Only edges from the node of this externalId.' })),
      to: Type.Optional(Type.String({ description: 'Only edges to the node of this externalId.' })),
      relation: Type.Optional(Type.String({ description: 'Only edges of this relation.' })),
      pending: Type.Optional(Type.Boolean({ description: 'Only pending edges instead of connected ones.' })),
      limit: Limit('Default 100.'),
      cursor: Cursor,
    }),
    response: Type.Object({ edges: Type.Array(GraphEdge), nextCursor: NextCursor }),
  }),
  id: 'listGraphEdges',
  method: 'GET',
  path: '/v1/graph/{id}/edges',
  summary: 'List edges',
  permission: 'read',
  status: 200,
  errors: ['INVALID_REQUEST'],
});

export const deleteGraphEdge = defineRoute({
  ...graphRoute({
    query: Type.Object({
      from: Reference('externalId, or of a pending edge what was written.', 'Ada_Lovelace'),
      to: Reference('externalId, or of a pending edge what was written.', 'London'),
      relation: Word('The relation.', 'LOCATED_IN'),
    }),
    response: Success,
  }),
  id: 'deleteGraphEdge',
  method: 'DELETE',
  path: '/v1/graph/{id}/edges',
  summary: 'Delete an edge',
  permission: 'write',
  status: 200,
  errors: ['INVALID_REQUEST', 'NOT_FOUND'],
});

export const searchGraph = defineRoute({
  ...graphRoute({
    body: Type.Object({
      query: Type.Optional(
        Type.String({
          maxLength: GRAPH_LIMITS.nameLength,
          description: 'A name, a part of one, or words of properties. Absent or empty: every node.',
          examples: ['lovelace'],
        }),
      ),
      object_type: Type.Optional(Type.String({ description: 'Only nodes of this type.', examples: ['Person'] })),
      properties: Type.Optional(Properties('Only nodes whose properties contain these.', { born: 1815 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 20 })),
      includeNeighbors: Type.Optional(Type.Boolean({ default: true })),
    }),
    response: Type.Object({
      nodes: Type.Array(GraphNode, { description: 'Matches, best first.' }),
      neighbors: Type.Array(GraphNode, { description: 'Nodes that share an edge with a match, at most 1,000.' }),
      edges: Type.Array(GraphEdge, { description: 'The edges between matches and neighbours.' }),
      total: Count('How many match; counted to 10,000.', 1),
      truncated: Truncated('Whether there are more neighbours than are told.'),
    }),
  }),
  id: 'searchGraph',
  method: 'POST',
  path: '/v1/graph/{id}/search',
  summary: 'Search nodes',
  description:
    'By name: the same, beginning alike, containing, similar; then by words of the properties. Case does not count.',
  permission: 'read',
  status: 200,
  errors: ['INVALID_REQUEST', 'INVALID_JSON'],
});

export const traverseGraph = defineRoute({
  ...graphRoute({
    body: Type.Object({
      startNode: Reference('The externalId of a node, else the name of one or several.', 'Ada_Lovelace'),
      relation: Type.Optional(Type.String({ description: 'Only edges of this relation.', examples: ['LOCATED_IN'] })),
      depth: Type.Optional(Type.Integer({ minimum: 1, maximum: GRAPH_LIMITS.depth, default: 1 })),
      direction: Type.Optional(OneOf(DIRECTIONS, { default: 'both' })),
    }),
    response: Type.Object({
      startNode: Type.String({ description: 'As it was asked for.', examples: ['Ada_Lovelace'] }),
      startNodes: Type.Array(GraphNode, { description: 'The nodes that it names.' }),
      nodes: Type.Array(
        Type.Object({
          appId: GraphId,
          ...nodeFields,
          depth: Type.Integer({ description: 'Steps from the start.', examples: [1] }),
        }),
        { description: 'The nodes that were reached, nearest first, without the start.' },
      ),
      edges: Type.Array(Type.Object(edgeFields), { description: 'The edges that were followed.' }),
      paths: Type.Array(
        Type.Object({
          nodes: Type.Array(Type.String(), { description: 'externalIds, from the start.', examples: [['a', 'b']] }),
          relations: Type.Array(Type.String(), { examples: [['LOCATED_IN']] }),
        }),
        { description: 'A shortest path to each node, in the order of `nodes`.' },
      ),
      truncated: Truncated('Whether more than 10,000 nodes, or more edges than are told, could be reached.'),
    }),
  }),
  id: 'traverseGraph',
  method: 'POST',
  path: '/v1/graph/{id}/traverse',
  summary: 'Follow edges from a node',
  permission: 'read',
  status: 200,
  errors: ['INVALID_REQUEST', 'INVALID_JSON', 'NOT_FOUND'],
});

export const syncGraph = defineRoute({
  ...graphRoute({
    body: SyncBody,
    response: Type.Object({
      success: Type.Literal(true),
      nodesWritten: Count('Nodes of the body; all of them are stored now.', 120),
      edgesWritten: Count('Edges of the body; all of them are stored now, or pending.', 340),
    }),
  }),
  id: 'syncGraph',
  method: 'POST',
  path: '/v1/graph/{id}/sync',
  summary: 'Write many nodes and edges at once',
  description:
    'All of it or nothing, in any order, and safe to repeat. Of items that name the same node or edge the last counts. The body may have 64 MB.',
  permission: 'write',
  status: 200,
  bodyBytes: GRAPH_LIMITS.syncBytes,
  errors: ['INVALID_REQUEST', 'INVALID_JSON'],
});

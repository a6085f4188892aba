import type { GraphNode, NodeInput } from '../../../contract/shared/graph-shapes.ts';
import type { Database } from '../../platform/db/index.ts';
import { deriveExternalId } from './external-id.ts';
import { changeGraph } from './store/change-graph.ts';
import type { GraphName } from './store/graph-row.ts';
import { findNode, wireNode } from './store/read-nodes.ts';
import { writeItem } from './sync/sync-graph.ts';

/** Creates a node, or updates the one of that externalId; connects the edges that waited for it. */
export function writeNode(database: Database, name: GraphName, node: NodeInput): Promise<GraphNode> {
  return changeGraph(database, name, async (write) => {
    await writeItem(write, { node });
    const stored = await findNode(write.tx, write.graph, node.externalId ?? deriveExternalId(node.name));
    if (!stored) throw new Error('a node that was written is not there');
    return wireNode(name.appId, stored);
  });
}

import type { EdgeInput, NodeInput } from '../../../../contract/shared/graph-shapes.ts';
import { AppError } from '../../../platform/errors/index.ts';
import type { Database } from '../../../platform/db/index.ts';
import type { IncomingBody } from '../../../platform/http/index.ts';
import { publishEvents } from '../../../platform/outbox/index.ts';
import { changeGraph, type GraphWrite } from '../store/change-graph.ts';
import type { GraphName } from '../store/graph-row.ts';
import { connectPending, namesakes, resolveReferences, writePending } from '../store/resolve-references.ts';
import { addWords, wordNumbers, writeEdges, writeNodes } from '../store/write-items.ts';
import { BodyRoom } from './body-room.ts';
import { INLINE_BYTES, openSteps } from './open-steps.ts';
import { itemSteps } from './sync-steps.ts';
import type { StepSource, SyncCounts, SyncReply, SyncStep } from './sync-step.ts';

/** Items of one statement up to which its changes are told row by row. */
const MOST_TOLD = 1000;

const MB = 1024 * 1024;
const room = new BodyRoom({ most: 256 * MB, mostOfOwner: 192 * MB, small: INLINE_BYTES });

type StepOf<K extends SyncStep['kind']> = Extract<SyncStep, { kind: K }>;

async function numberWords({ tx, graph, changes }: GraphWrite, step: StepOf<'words'>): Promise<SyncReply> {
  const types = await addWords(tx, graph, { kind: 'type', words: step.types });
  const relations = await addWords(tx, graph, { kind: 'relation', words: step.relations });
  changes.words.push(...types.concat(relations));
  const numbers = await wordNumbers(tx, graph, { kind: 'relation', words: step.relations });
  return step.relations.map((word) => numbers.get(word) ?? -1);
}

/** Refuses a reference that names several nodes, and tells which they are. */
async function refuseAmbiguous({ tx, graph }: GraphWrite, field: string, reference: string): Promise<never> {
  const found = await namesakes(tx, graph, reference);
  throw new AppError(
    'INVALID_REQUEST',
    `${field} "${reference}" is the name of several nodes; give one of their externalIds: ${found.join(', ')}.`,
  );
}

async function nodesStep(write: GraphWrite, { columns }: StepOf<'nodes'>): Promise<void> {
  const wantsChanges = !write.isLarge && columns.count <= MOST_TOLD;
  const { inserted, updated, changes } = await writeNodes(write.tx, write.graph, { columns, wantsChanges });
  if (inserted + updated === 0) return;
  write.isChanged = true;
  if (wantsChanges) write.changes.nodes.push(...(changes ?? []));
  else write.isLarge = true;
}

async function edgesStep(write: GraphWrite, { columns }: StepOf<'edges'>, isFirst: boolean): Promise<void> {
  const wantsChanges = !write.isLarge && columns.count <= MOST_TOLD;
  const { inserted, updated, changes } = await writeEdges(write.tx, write.graph, { columns, wantsChanges, isFirst });
  if (inserted + updated === 0) return;
  write.isChanged = true;
  if (wantsChanges) write.changes.edges.push(...(changes ?? []));
  else write.isLarge = true;
}

async function connectStep(write: GraphWrite, { references }: StepOf<'connect'>): Promise<void> {
  if (write.graph.pendingEdgeCount === 0) return;
  const { removed, changes } = await connectPending(write.tx, write.graph, references);
  write.isChanged ||= removed > 0;
  if (changes.length > MOST_TOLD) write.isLarge = true;
  else write.changes.edges.push(...changes);
}

async function pendingStep(write: GraphWrite, { columns }: StepOf<'pending'>): Promise<void> {
  const inserted = await writePending(write.tx, write.graph, columns);
  write.isChanged ||= inserted > 0;
}

async function takeStep(write: GraphWrite, step: SyncStep, isFirst: boolean): Promise<SyncReply> {
  let reply: SyncReply = [];
  switch (step.kind) {
    case 'words':
      reply = await numberWords(write, step);
      break;
    case 'nodes':
      await nodesStep(write, step);
      break;
    case 'connect':
      await connectStep(write, step);
      break;
    case 'resolve':
      reply = await resolveReferences(write.tx, write.graph, step.references);
      break;
    case 'ambiguous':
      await refuseAmbiguous(write, step.field, step.reference);
      break;
    case 'edges':
      await edgesStep(write, step, isFirst);
      break;
    case 'pending':
      await pendingStep(write, step);
      break;
  }
  return reply;
}

/** Takes the steps of a body, one after the other, in the transaction of a write. */
async function takeSteps(write: GraphWrite, first: SyncStep, steps: StepSource): Promise<SyncCounts> {
  let step = first;
  let isFirst: boolean | undefined;
  for (;;) {
    if (step.kind === 'edges') isFirst ??= write.graph.edgeCount === 0;
    const next = await steps.next(await takeStep(write, step, isFirst ?? false));
    if (next.done === true) return next.value;
    step = next.value;
  }
}

async function writeBody(database: Database, name: GraphName, bytes: Buffer<ArrayBuffer>): Promise<SyncCounts> {
  const steps = await openSteps(name.developerId, bytes);
  try {
    // A body that cannot be read is refused before a connection is taken.
    const first = await steps.next([]);
    if (first.done === true) return first.value;
    return await changeGraph(database, name, async (write) => {
      const counts = await takeSteps(write, first.value, steps);
      const data = { graphId: name.appId, ...counts };
      await publishEvents(write.tx, [{ developerId: name.developerId, type: 'graph.synced', data }]);
      return counts;
    });
  } finally {
    await steps.close();
  }
}

/**
 * Writes the nodes and edges of a body: all of them or, when it fails, none. Repeating it changes nothing. Throws
 * AppError that names the item, and UNAVAILABLE while there is no room for a large body.
 */
export async function syncGraph(database: Database, name: GraphName, body: IncomingBody): Promise<SyncCounts> {
  const place = room.enter(name.developerId);
  try {
    return await writeBody(database, name, await body.read(place.reserve));
  } finally {
    place.leave();
  }
}

/** Writes a node or an edge, in the transaction of a write. */
export async function writeItem(write: GraphWrite, item: { node: NodeInput } | { edge: EdgeInput }): Promise<void> {
  const steps = itemSteps('node' in item ? { nodes: [item.node] } : { edges: [item.edge] });
  const first = steps.next([]);
  if (first.done === true) return;
  await takeSteps(write, first.value, {
    next: (reply) => Promise.resolve(steps.next(reply)),
    close: () => Promise.resolve(),
  });
}

import { prepared, type Database, type Transaction } from '../../../platform/db/index.ts';
import { FewAtOnce } from './few-at-once.ts';
import { lockOrCreateGraph, saveGraph, type GraphName, type GraphRow } from './graph-row.ts';
import type { EdgeChange, NodeChange, WordChange } from './write-items.ts';

/** Rows of one write beyond which processes load the graph anew. */
const MOST_CHANGES = 2000;
/** Writes that a process may be behind before it loads the graph anew. */
const KEPT_CHANGES = 256;

/** What one write changed, in the numbers of the graph. */
export interface GraphChanges {
  words: WordChange[];
  nodes: NodeChange[];
  edges: EdgeChange[];
}

/** A write under way: the locked row, and what was changed so far. */
export interface GraphWrite {
  tx: Transaction;
  graph: GraphRow;
  changes: GraphChanges;
  /** Set when something was changed. */
  isChanged: boolean;
  /** Set when `changes` does not hold everything. */
  isLarge: boolean;
}

const insertChanges = prepared('insert into graph_changes values ($1, $2, $3, $4)');
const deleteOldChanges = prepared(
  'delete from graph_changes where developer_id = $1 and graph_no = $2 and counter <= $3',
);

async function recordChanges({ tx, graph, changes, isLarge }: GraphWrite): Promise<void> {
  const { developerId, no, counter } = graph;
  const size = changes.words.length + changes.nodes.length + changes.edges.length;
  if (isLarge || size > MOST_CHANGES) return;
  await tx.query(insertChanges([developerId, no, counter, JSON.stringify(changes)]));
  await tx.query(deleteOldChanges([developerId, no, counter - KEPT_CHANGES]));
}

/** Runs a write to a graph whose row is locked, and raises its counter when something changed. */
export async function changeLocked<T>(
  tx: Transaction,
  graph: GraphRow,
  write: (change: GraphWrite) => Promise<T>,
): Promise<T> {
  const before = JSON.stringify(graph);
  const change = { tx, graph, changes: { words: [], nodes: [], edges: [] }, isChanged: false, isLarge: false };
  const result = await write(change);
  if (!change.isChanged && JSON.stringify(graph) === before) return result;
  graph.counter++;
  await recordChanges(change);
  await saveGraph(tx, graph);
  return result;
}

/** One that writes, and one that waits for its lock; more would hold connections that others need. */
const writes = new FewAtOnce(2);

/** Runs a transaction that writes to one graph, when those before it are through. */
export function transactionOn<T>(
  database: Database,
  { developerId, appId }: GraphName,
  run: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return writes.run(`${developerId} ${appId}`, () => database.transaction(run));
}

/** Runs a write to a graph in a transaction of its own; a graph that is absent is made. */
export function changeGraph<T>(
  database: Database,
  name: GraphName,
  write: (change: GraphWrite) => Promise<T>,
): Promise<T> {
  return transactionOn(database, name, async (tx) => changeLocked(tx, await lockOrCreateGraph(tx, name), write));
}

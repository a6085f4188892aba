import type { Graphs } from '../graphs.ts';
import type { GraphRow } from '../store/graph-row.ts';
import { matchNodes } from '../store/read-nodes.ts';
import { databaseView, memoryView, type GraphView } from './graph-view.ts';

/** Matches that are counted. */
const MOST_MATCHES = 10_000;

export interface Matches extends GraphView {
  /** Numbers of the nodes that match, best first. */
  nos: number[];
}

/** The nodes of a graph that match a text. */
export async function matchesOf(
  { database, hot }: Graphs,
  row: GraphRow,
  { text, withProperties }: { text: string; withProperties: boolean },
): Promise<Matches> {
  const index = await hot.current(row);
  const view = index ? memoryView(database, row, index) : databaseView(database, row);
  const nos = await matchNodes(database, row, { text: text.toLowerCase(), limit: MOST_MATCHES });
  return { ...view, nos: withProperties ? nos : nos };
}

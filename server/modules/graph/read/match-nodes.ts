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

/** The nodes of a graph that match a text, and the graph itself. */
export async function matchesOf(
  { database, hot }: Graphs,
  row: GraphRow,
  { text, withProperties }: { text: string; withProperties: boolean },
): Promise<Matches> {
  const index = await hot.current(row);
  const isAll = text.trim() === '';
  if (!index || isAll) {
    const view = index ? memoryView(database, row, index) : databaseView(database, row);
    const wanted = { text: isAll ? '' : text.trim().toLowerCase(), limit: MOST_MATCHES, withProperties };
    return { ...view, nos: await matchNodes(database, row, wanted) };
  }
  const search = await hot.searchOf(row, index);
  const nos = await search.find(text, { most: MOST_MATCHES, withProperties });
  return { ...memoryView(database, row, index), nos };
}

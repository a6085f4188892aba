import type { Graphs } from '../graphs.ts';
import { foldText } from '../search/terms.ts';
import type { GraphRow } from '../store/graph-row.ts';
import { filteredNodes, filterNodes, type NodeFilter } from '../store/read-nodes.ts';
import { databaseView, memoryView, type GraphView } from './graph-view.ts';
import { scanNodes } from './scan-nodes.ts';

/** Matches of one kind that are counted. */
const MOST_MATCHES = 10_000;

export interface Matches extends GraphView {
  /** Numbers of the nodes that match, best first. */
  nos: number[];
}

export interface MatchQuery {
  text: string;
  withProperties: boolean;
  filter: NodeFilter;
}

/** The nodes of a graph that match a text and pass a filter, and the graph itself. */
export async function matchesOf({ database, hot }: Graphs, row: GraphRow, query: MatchQuery): Promise<Matches> {
  const { text, withProperties, filter } = query;
  const index = await hot.current(row);
  const view = index ? memoryView(database, row, index) : databaseView(database, row);
  const most = MOST_MATCHES;
  if (foldText(text) === '') return { ...view, nos: await filteredNodes(database, row, { filter, limit: most }) };
  const search = index && (await hot.searchOf(row, index));
  if (!search) return { ...view, nos: await scanNodes(database, row, { ...query, most }) };
  const { objectType, properties } = filter;
  const isOfType = (no: number): boolean => index.words[index.nodes[no]?.typeNo ?? -1] === objectType;
  const found = await search.find(text, {
    // What passes the filter by properties is known only afterwards.
    most: properties === undefined ? most : Infinity,
    withProperties,
    accepts: objectType === undefined ? () => true : isOfType,
  });
  const nos = await filterNodes(database, row, { nos: found, filter: { properties } });
  return { ...view, nos: nos.slice(0, most) };
}

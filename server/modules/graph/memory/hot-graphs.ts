import { prepared, type Database } from '../../../platform/db/index.ts';
import type { GraphChanges } from '../store/change-graph.ts';
import type { GraphRow } from '../store/graph-row.ts';
import { GraphSearch } from '../search/graph-search.ts';
import { searchedProperties } from '../store/read-nodes.ts';
import type { GraphIndex } from './graph-index.ts';
import { loadIndex } from './load-index.ts';

/** Nodes and edges up to which a request waits for a graph to be loaded, some ten milliseconds. */
const WAITED_SIZE = 20_000;
/** Guesses of what a node and an edge take, to tell beforehand what cannot fit. */
const NODE_BYTES = 300;
const EDGE_BYTES = 17;

const selectChanges = prepared(`select counter::float8 as counter, changes from graph_changes
  where developer_id = $1 and graph_no = $2 and counter > $3 order by counter`);

/** Safe because only change-graph.ts writes that column, with exactly that. */
function parseChanges(text: string): GraphChanges {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return JSON.parse(text) as GraphChanges;
}

export interface HotGraphsOptions {
  database: Database;
  /** Bytes that all graphs in memory may take; the least recently used go beyond that. */
  maxBytes: number;
  /** Told of a graph that could not be loaded; the database goes on answering for it. */
  onError: (error: unknown) => void;
}

/** Graphs in memory. Each is brought in step with the database before it answers. */
export class HotGraphs {
  readonly #options: HotGraphsOptions;
  /** By number of the graph, in order of use, the oldest first. */
  readonly #graphs = new Map<number, GraphIndex>();
  readonly #loads = new Map<number, Promise<GraphIndex | undefined>>();

  readonly #searches = new WeakMap<GraphIndex, Promise<GraphSearch>>();

  constructor(options: HotGraphsOptions) {
    this.#options = options;
  }

  /** The graph as of its row or later; undefined while it is loaded, and where it does not fit. */
  async current(row: GraphRow): Promise<GraphIndex | undefined> {
    const known = this.#graphs.get(row.no);
    if (known && (known.counter >= row.counter || (await this.#catchUp(known, row)))) {
      this.#graphs.delete(row.no);
      this.#graphs.set(row.no, known);
      return known;
    }
    if (row.nodeCount * NODE_BYTES + row.edgeCount * EDGE_BYTES > this.#options.maxBytes) return undefined;
    const load = this.#loads.get(row.no) ?? this.#load(row);
    if (row.nodeCount + row.edgeCount > WAITED_SIZE) return undefined;
    const loaded = await load;
    if (!loaded || loaded.counter >= row.counter) return loaded;
    // The load had begun before that write.
    return (await this.#catchUp(loaded, row)) ? loaded : undefined;
  }

  /** The search of a graph that is in memory, built when it is first asked for. */
  searchOf(row: GraphRow, index: GraphIndex): Promise<GraphSearch> {
    const known = this.#searches.get(index);
    if (known) return known;
    const { database } = this.#options;
    const search = GraphSearch.build(index, (nos) => searchedProperties(database, row, nos));
    this.#searches.set(index, search);
    search.catch(() => this.#searches.delete(index));
    return search;
  }

  /** Waits for what is being loaded. */
  async close(): Promise<void> {
    await Promise.all(this.#loads.values());
  }

  async #catchUp(index: GraphIndex, { developerId, no, counter }: GraphRow): Promise<boolean> {
    const { rows } = await this.#options.database.query<{ counter: number; changes: string }>(
      selectChanges([developerId, no, index.counter]),
    );
    // Another request may have applied some of them by now; a counter out of turn is passed over.
    for (const change of rows) index.apply(change.counter, parseChanges(change.changes));
    if (index.counter >= counter) return true;
    if (this.#graphs.get(no) === index) this.#graphs.delete(no);
    return false;
  }

  #load(row: GraphRow): Promise<GraphIndex | undefined> {
    const load = loadIndex(this.#options.database, row)
      .then((index) => {
        if (index) this.#keep(row.no, index);
        return index;
      })
      .catch((error: unknown) => {
        this.#options.onError(error);
        return undefined;
      })
      .finally(() => this.#loads.delete(row.no));
    this.#loads.set(row.no, load);
    return load;
  }

  #keep(no: number, index: GraphIndex): void {
    this.#graphs.set(no, index);
    let bytes = [...this.#graphs.values()].reduce((sum, graph) => sum + graph.bytes, 0);
    for (const [oldest, graph] of this.#graphs) {
      if (bytes <= this.#options.maxBytes || oldest === no) return;
      this.#graphs.delete(oldest);
      bytes -= graph.bytes;
    }
  }
}

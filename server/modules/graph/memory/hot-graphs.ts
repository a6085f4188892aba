import { prepared, type Database } from '../../../platform/db/index.ts';
import type { GraphChanges } from '../store/change-graph.ts';
import type { GraphRow } from '../store/graph-row.ts';
import { SearchTooLarge } from '../search/build-search.ts';
import { GraphSearch } from '../search/graph-search.ts';
import { searchedProperties } from '../store/read-nodes.ts';
import type { GraphIndex } from './graph-index.ts';
import { loadIndex } from './load-index.ts';

/** Nodes and edges up to which a request waits for a graph to be loaded, some ten milliseconds. */
const WAITED_SIZE = 20_000;
/** Nodes up to which a request waits for the search of a graph to be built. */
const WAITED_NODES = 5000;
/** Guesses of what a node, without its search, and an edge take, to tell beforehand what cannot fit. */
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
  /** Large graphs are loaded one after the other: what they take beyond the limit until they are counted is bounded. */
  #lastLarge: Promise<unknown> = Promise.resolve();
  /** Of each graph in memory that was searched; undefined where its search does not fit. */
  readonly #searches = new WeakMap<GraphIndex, Promise<GraphSearch | undefined>>();

  readonly #builds = new Set<Promise<unknown>>();

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

  /** The search of a graph in memory; undefined while a large one is built, and where it does not fit. */
  async searchOf(row: GraphRow, index: GraphIndex): Promise<GraphSearch | undefined> {
    const search = this.#searches.get(index) ?? this.#buildSearch(row, index);
    if (index.searchBytes > 0 || index.nodes.length <= WAITED_NODES) return search;
    // Decided already, or still being built.
    return Promise.race([search, Promise.resolve(undefined)]);
  }

  #buildSearch(row: GraphRow, index: GraphIndex): Promise<GraphSearch | undefined> {
    const { database, maxBytes, onError } = this.#options;
    const read = (nos: readonly number[]) => searchedProperties(database, row, nos);
    const search = GraphSearch.build({ index, read, mostBytes: maxBytes - index.bytes })
      .then((built) => {
        this.#makeRoom(row.no);
        return built;
      })
      .catch((error: unknown) => {
        if (error instanceof SearchTooLarge) return undefined;
        this.#searches.delete(index);
        onError(error);
        return undefined;
      });
    this.#searches.set(index, search);
    this.#builds.add(search);
    void search.finally(() => this.#builds.delete(search));
    return search;
  }

  /** Waits for what is being loaded. */
  async close(): Promise<void> {
    await Promise.all(this.#loads.values());
    await Promise.all(this.#builds);
  }

  async #catchUp(index: GraphIndex, { developerId, no, counter }: GraphRow): Promise<boolean> {
    const { rows } = await this.#options.database.query<{ counter: number; changes: string }>(
      selectChanges([developerId, no, index.counter]),
    );
    // Another request may have applied some of them by now; a counter out of turn is passed over.
    for (const change of rows) index.apply(change.counter, parseChanges(change.changes));
    if (index.counter >= counter) {
      this.#makeRoom(no);
      return true;
    }
    if (this.#graphs.get(no) === index) this.#graphs.delete(no);
    return false;
  }

  #load(row: GraphRow): Promise<GraphIndex | undefined> {
    const load = this.#read(row)
      .then((index) => {
        if (index) this.#graphs.set(row.no, index);
        this.#makeRoom(row.no);
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

  #read(row: GraphRow): Promise<GraphIndex | undefined> {
    const { database } = this.#options;
    if (row.nodeCount + row.edgeCount <= WAITED_SIZE) return loadIndex(database, row);
    const load = this.#lastLarge.then(() => loadIndex(database, row));
    this.#lastLarge = load.catch(() => undefined);
    return load;
  }

  /** Lets the least recently used go; whoever is at work with one keeps it until then. */
  #makeRoom(used: number): void {
    let bytes = [...this.#graphs.values()].reduce((sum, graph) => sum + graph.bytes, 0);
    for (const [oldest, graph] of this.#graphs) {
      if (bytes <= this.#options.maxBytes) return;
      if (oldest === used) continue;
      this.#graphs.delete(oldest);
      bytes -= graph.bytes;
    }
  }
}

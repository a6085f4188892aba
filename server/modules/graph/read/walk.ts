import { GRAPH_LIMITS, type Direction } from '../../../../contract/shared/graph-shapes.ts';
import { relationOf, type Adjacency } from '../memory/adjacency.ts';

/** Entries of adjacency after which a walk looks at no further node: some ten milliseconds. */
const MOST_LOOKS = 1_000_000;

/** The edges of nodes, in the directions that are followed. */
export interface Sides {
  out?: Pick<Adjacency, 'each'>;
  in?: Pick<Adjacency, 'each'>;
  /** Whether there are more edges than these. */
  isCut?: boolean;
}

export interface WalkOptions {
  starts: readonly number[];
  depth: number;
  direction: Direction;
  /** Only edges of this relation. */
  relation?: number | undefined;
  /** The edges of the nodes of one step: from memory at once, from the database in a while. */
  sidesOf: (nodes: readonly number[]) => Sides | Promise<Sides>;
}

export interface WalkEdge {
  from: number;
  to: number;
  label: number;
}

/** How a node was reached. */
interface Reached {
  no: number;
  depth: number;
  /** The node before it, and the relation between them. */
  before: number;
  relation: number;
}

export interface Walk {
  /** Without the start; nearest first. */
  reached: Reached[];
  edges: WalkEdge[];
  truncated: boolean;
}

class Walker {
  readonly reached: Reached[] = [];
  readonly edges: WalkEdge[] = [];
  truncated = false;
  readonly #options: WalkOptions;
  readonly #seen: Set<number>;
  /** Nodes whose edges were all looked at, so that an edge is told once though it has two ends. */
  readonly #done = new Set<number>();
  #looks = 0;

  constructor(options: WalkOptions) {
    this.#options = options;
    this.#seen = new Set(options.starts);
  }

  /** Looks at the edges of a node, unless so many were looked at that it is enough. */
  expand(node: number, depth: number, sides: Sides): void {
    if (this.#looks >= MOST_LOOKS) {
      this.truncated = true;
      return;
    }
    sides.out?.each(node, (other, label) => {
      if (this.#reach(other, label, { node, depth })) this.#tell({ from: node, to: other, label });
    });
    sides.in?.each(node, (other, label) => {
      // A self loop was told as an outgoing edge, where those are followed.
      if (other === node && sides.out) return;
      if (this.#reach(other, label, { node, depth })) this.#tell({ from: other, to: node, label });
    });
    this.#done.add(node);
  }

  /** Whether the edge is a new one between nodes that are part of the answer. */
  #reach(other: number, label: number, { node, depth }: { node: number; depth: number }): boolean {
    const relation = relationOf(label);
    this.#looks++;
    if (this.#options.relation !== undefined && relation !== this.#options.relation) return false;
    if (!this.#seen.has(other)) {
      if (this.reached.length >= GRAPH_LIMITS.visited) {
        this.truncated = true;
        return false;
      }
      this.#seen.add(other);
      this.reached.push({ no: other, depth, before: node, relation });
    }
    return this.#options.direction !== 'both' || !this.#done.has(other);
  }

  #tell(edge: WalkEdge): void {
    if (this.edges.length < GRAPH_LIMITS.edges) this.edges.push(edge);
    else this.truncated = true;
  }
}

/** Walks breadth first. Bounded: at most 10,000 nodes, 50,000 edges and a million looks. */
export async function walk(options: WalkOptions): Promise<Walk> {
  const walker = new Walker(options);
  let step = options.starts;
  for (let depth = 1; depth <= options.depth && step.length > 0; depth++) {
    const sides = options.sidesOf(step);
    const known = sides instanceof Promise ? await sides : sides;
    if (known.isCut === true) walker.truncated = true;
    const reachedBefore = walker.reached.length;
    for (const node of step) walker.expand(node, depth, known);
    step = walker.reached.slice(reachedBefore).map(({ no }) => no);
  }
  return walker;
}

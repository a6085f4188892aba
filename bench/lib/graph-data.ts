export interface BenchNode {
  type: string;
  name: string;
  externalId: string;
  properties?: Record<string, unknown>;
}
export interface BenchEdge {
  from: string;
  to: string;
  relation: string;
}

/** Numbers from 0 to below 1 that are the same in every run (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SYLLABLES =
  'an ber cal dor el fin gar hol is jun kar lin mar nor os pel quin ros san tor ul ven wil yar zan'.split(' ');
const KINDS = ['Person', 'Company', 'City', 'Product', 'Team'];
const RELATIONS = ['KNOWS', 'WORKS_FOR', 'LOCATED_IN', 'OWNS', 'PART_OF', 'REPORTS_TO'];

function pick<T>(list: readonly T[], random: () => number): T {
  const item = list[Math.floor(random() * list.length)];
  if (item === undefined) throw new Error('an empty list');
  return item;
}

/** Two made-up words, or a Chinese name for one node in ten. */
function makeName(random: () => number): string {
  if (random() < 0.1) {
    return Array.from({ length: 5 }, () => String.fromCharCode(0x4e00 + Math.floor(random() * 2000))).join('');
  }
  const word = (): string => {
    const text = pick(SYLLABLES, random) + pick(SYLLABLES, random) + pick(SYLLABLES, random);
    return text.charAt(0).toUpperCase() + text.slice(1);
  };
  return `${word()} ${word()}`;
}

/** A graph whose edges go from anywhere to anywhere: with eight for each node, three steps reach some 580 nodes. */
export function makeGraph(size: { nodes: number; edges: number; withProperties: boolean }): {
  nodes: BenchNode[];
  edges: BenchEdge[];
} {
  const random = randomNumbers(size.nodes + size.edges);
  const nodes = Array.from({ length: size.nodes }, (_, i) => ({
    type: pick(KINDS, random),
    name: makeName(random),
    externalId: `n${i}`,
    ...(size.withProperties ? { properties: { born: 1900 + (i % 100), note: makeName(random) } } : {}),
  }));
  const seen = new Set<string>();
  const edges: BenchEdge[] = [];
  while (edges.length < size.edges) {
    const edge = {
      from: pick(nodes, random).externalId,
      to: pick(nodes, random).externalId,
      relation: pick(RELATIONS, random),
    };
    const key = `${edge.from} ${edge.to} ${edge.relation}`;
    if (!seen.has(key)) edges.push(edge);
    seen.add(key);
  }
  return { nodes, edges };
}

import { SyncBody, type EdgeInput, type NodeInput } from '../../../../contract/shared/graph-shapes.ts';
import type { Static } from 'typebox';
import { AppError } from '../../../platform/errors/index.ts';
import { compileValidator, parseJsonBody } from '../../../platform/json/index.ts';
import { deriveExternalId } from '../external-id.ts';
import { arrayOf } from '../store/array-literal.ts';
import { AMBIGUOUS } from '../store/reference-numbers.ts';
import { edgeSteps } from './edge-steps.ts';
import type { SyncCounts, SyncReply, SyncStep } from './sync-step.ts';

const NODES_AT_ONCE = 10_000;
const REFERENCES_AT_ONCE = 20_000;
/** References beyond which all pending edges are looked at. */
const MOST_REFERENCES = 5000;

type Items = Static<typeof SyncBody>;
type Steps<T> = Generator<SyncStep, T, SyncReply>;

const validate = compileValidator(SyncBody, 'body');

function readBody(bytes: Buffer): Items {
  const outcome = validate(parseJsonBody(bytes));
  if ('error' in outcome) throw outcome.error;
  return asItems(outcome.value);
}

/** Safe because the value was just checked against that schema. */
function asItems(value: unknown): Items {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return value as Items;
}

/** The externalId of a node; `field` is where the node stands. */
function externalIdOf({ externalId, name }: NodeInput, field: string): string {
  const id = externalId ?? deriveExternalId(name);
  if (id === '') throw new AppError('INVALID_REQUEST', `${field}name is blank, so externalId is required.`);
  return id;
}

interface UniqueNode extends NodeInput {
  externalId: string;
}

/** Where an item of a list stands in the body; nothing, when the body is the item. */
type PlaceOf = (list: 'nodes' | 'edges', index: number) => string;

/** One node for each externalId: the last of the body, with properties of an earlier one where it has none. */
function uniqueNodes(nodes: readonly NodeInput[], placeOf: PlaceOf): UniqueNode[] {
  const byId = new Map<string, UniqueNode>();
  for (const [index, node] of nodes.entries()) {
    const externalId = externalIdOf(node, placeOf('nodes', index));
    const properties = node.properties ?? byId.get(externalId)?.properties;
    byId.set(externalId, { type: node.type, name: node.name, externalId, ...(properties ? { properties } : {}) });
  }
  return [...byId.values()];
}

/** Properties as they are stored. */
function propertiesText(properties: Record<string, unknown> | undefined): string | null {
  return properties === undefined ? null : JSON.stringify(properties);
}

function* nodeSteps(nodes: readonly UniqueNode[]): Steps<void> {
  for (let start = 0; start < nodes.length; start += NODES_AT_ONCE) {
    const some = nodes.slice(start, start + NODES_AT_ONCE);
    yield {
      kind: 'nodes',
      columns: {
        count: some.length,
        externalIds: arrayOf(some.map(({ externalId }) => externalId)),
        types: arrayOf(some.map(({ type }) => type)),
        names: arrayOf(some.map(({ name }) => name)),
        properties: arrayOf(some.map(({ properties }) => propertiesText(properties))),
      },
    };
  }
}

/** The field where a reference is used first. */
function firstUse(reference: string, edges: readonly EdgeInput[], placeOf: PlaceOf): string {
  const index = edges.findIndex(({ from, to }) => from === reference || to === reference);
  return `${placeOf('edges', index)}${edges[index]?.from === reference ? 'from' : 'to'}`;
}

function* resolveSteps(edges: readonly EdgeInput[], placeOf: PlaceOf): Steps<Map<string, number>> {
  const references = [...new Set(edges.flatMap(({ from, to }) => [from, to]))];
  const found = new Map<string, number>();
  for (let start = 0; start < references.length; start += REFERENCES_AT_ONCE) {
    const some = references.slice(start, start + REFERENCES_AT_ONCE);
    const numbers = yield { kind: 'resolve', references: arrayOf(some) };
    const ambiguous = some[numbers.indexOf(AMBIGUOUS)];
    if (ambiguous !== undefined) {
      yield { kind: 'ambiguous', field: firstUse(ambiguous, edges, placeOf), reference: ambiguous };
    }
    for (const [index, reference] of some.entries()) found.set(reference, numbers[index] ?? -1);
  }
  return found;
}

/** Connects pending edges that may be whole by these nodes and edges. */
function connectStep(nodes: readonly UniqueNode[], edges: readonly EdgeInput[]): SyncStep {
  if (nodes.length + edges.length > MOST_REFERENCES) return { kind: 'connect', references: null };
  const ofNodes = nodes.flatMap(({ externalId, name }) => [externalId, name]);
  const ofEdges = edges.flatMap(({ from, to }) => [from, to]);
  return { kind: 'connect', references: arrayOf([...new Set([...ofNodes, ...ofEdges])]) };
}

/** What has to be done for nodes and edges, as columns for a few statements. */
export function* itemSteps({ nodes = [], edges = [] }: Items, placeOf: PlaceOf = () => ''): Steps<SyncCounts> {
  const different = uniqueNodes(nodes, placeOf);
  const relations = [...new Set(edges.map(({ relation }) => relation))];
  const types = [...new Set(different.map(({ type }) => type))];
  const relationNumbers = yield { kind: 'words', types, relations };
  yield* nodeSteps(different);
  yield connectStep(different, edges);
  const numbers = {
    nodes: yield* resolveSteps(edges, placeOf),
    relations: new Map(relations.map((word, index) => [word, relationNumbers[index] ?? 0])),
  };
  yield* edgeSteps(edges, numbers);
  return { nodesWritten: nodes.length, edgesWritten: edges.length };
}

/** The same for the body of a sync. Throws AppError for one that cannot be read. */
export function syncSteps(bytes: Buffer): Steps<SyncCounts> {
  // Not a generator itself, which would hold on to the bytes.
  return itemSteps(readBody(bytes), (list, index) => `${list}[${index}].`);
}

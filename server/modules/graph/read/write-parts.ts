import type { EdgeRow } from '../store/read-edges.ts';
import type { NodeRow } from '../store/read-nodes.ts';
import { constant, type JsonWriter } from './json-writer.ts';

const NAME = constant(',"name":');
const EXTERNAL_ID = constant(',"externalId":');
const PROPERTIES = constant(',"properties":');
const NO_PROPERTIES = constant('{}');
const FROM = constant('{"from":');
const TO = constant(',"to":');
const RELATION = constant(',"relation":');
const NEXT_CURSOR = constant(',"nextCursor":');
export const END = constant('}');

function writeProperties(json: JsonWriter, properties: string | null): void {
  json.raw(PROPERTIES);
  if (properties === null) json.raw(NO_PROPERTIES);
  else json.json(properties);
}

/** Writes nodes of a graph, each up to the given end. */
export function nodeWriter(json: JsonWriter, appId: string): (node: NodeRow, end?: Uint8Array) => void {
  const start = constant(`{"appId":${JSON.stringify(appId)},"objectType":`);
  return (node, end = END) => {
    json.raw(start);
    json.string(node.objectType);
    json.raw(NAME);
    json.string(node.name);
    json.raw(EXTERNAL_ID);
    json.string(node.externalId);
    writeProperties(json, node.properties);
    json.raw(end);
  };
}

/** Writes edges: of a graph, when its id is given. */
export function edgeWriter(json: JsonWriter, appId?: string): (edge: EdgeRow, end?: Uint8Array) => void {
  const start = appId === undefined ? FROM : constant(`{"appId":${JSON.stringify(appId)},"from":`);
  return (edge, end = END) => {
    json.raw(start);
    json.string(edge.from);
    json.raw(TO);
    json.string(edge.to);
    json.raw(RELATION);
    json.string(edge.relation);
    writeProperties(json, edge.properties);
    json.raw(end);
  };
}

/** The last field of a page, and its end. */
export function writePageEnd(json: JsonWriter, nextCursor: string | undefined): void {
  if (nextCursor !== undefined) {
    json.raw(NEXT_CURSOR);
    json.string(nextCursor);
  }
  json.raw(END);
}

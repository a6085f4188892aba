import { isList, isObject, own, SchemaMistake } from './keyword.ts';
import { pathStep } from './field-path.ts';

/** A part of the schema document that a reference leads to. */
export interface Target {
  schema: unknown;
  where: string;
}

type Anchors = ReadonlyMap<string, Target>;

/** What every reference of a document is resolved against. */
export interface SchemaDocument {
  root: Record<string, unknown>;
  anchors: Anchors;
}

function anchorNames(schema: Record<string, unknown>): string[] {
  const id = own(schema, '$id');
  const plain = typeof id === 'string' && id.startsWith('#') ? id.slice(1) : undefined;
  const names = [own(schema, '$anchor'), own(schema, '$dynamicAnchor'), plain];
  return names.filter((name) => typeof name === 'string');
}

/** Finds the anchors of a document. The document's depth is limited before. */
function collectAnchors(value: unknown, where: string, found: Map<string, Target>): void {
  if (isList(value)) {
    for (const [index, item] of value.entries()) collectAnchors(item, where + pathStep(index), found);
  } else if (isObject(value)) {
    for (const name of anchorNames(value)) {
      if (found.has(name)) throw new SchemaMistake(where, `repeats the anchor "${name}"`);
      found.set(name, { schema: value, where });
    }
    for (const [name, member] of Object.entries(value)) collectAnchors(member, where + pathStep(name), found);
  }
}

export function schemaDocument(root: Record<string, unknown>): SchemaDocument {
  const anchors = new Map<string, Target>();
  collectAnchors(root, '', anchors);
  return { root, anchors };
}

function memberOf(value: unknown, key: string): { member: unknown; step: string } | undefined {
  if (isList(value) && /^\d{1,4}$/.test(key)) {
    return Number(key) < value.length ? { member: value[Number(key)], step: pathStep(Number(key)) } : undefined;
  }
  return isObject(value) && Object.hasOwn(value, key) ? { member: value[key], step: pathStep(key) } : undefined;
}

/** RFC 6901, in the form that a URI fragment has. */
function followPointer(root: unknown, pointer: string): Target | undefined {
  let at: Target = { schema: root, where: '' };
  for (const part of pointer.split('/').slice(1)) {
    const found = memberOf(at.schema, part.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (!found) return undefined;
    at = { schema: found.member, where: at.where + found.step };
  }
  return at;
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

/** What a reference leads to: the root, a JSON pointer or an anchor. Nothing is ever fetched. */
export function resolveReference({ root, anchors }: SchemaDocument, reference: string, where: string): Target {
  const hash = reference.indexOf('#');
  const base = hash < 0 ? reference : reference.slice(0, hash);
  const fragment = hash < 0 ? '' : decodeFragment(reference.slice(hash + 1));
  const id = own(root, '$id');
  if (base !== '' && (typeof id !== 'string' || base !== id.replace(/#$/, ''))) {
    throw new SchemaMistake(where, 'must point into the schema itself, such as "#/$defs/address"');
  }
  const isPointer = fragment === '' || fragment.startsWith('/');
  const target = isPointer ? followPointer(root, fragment) : anchors.get(fragment);
  if (!target) throw new SchemaMistake(where, `points to "${reference}", which is not there`);
  return target;
}

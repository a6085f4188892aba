import { canonicalText } from './canonical-text.ts';
import { demandCount, demandSchemas, isList, own, type Keyword } from './keyword.ts';
import { inside, mismatch, silently, type Check, type Visit } from './run.ts';
import type { SchemaNode } from './schema-node.ts';

/** Applies a schema to each item from an index on. */
function eachItem(node: SchemaNode, start: number): Check {
  return (input, visit) => {
    if (!isList(input)) return true;
    let isValid = true;
    for (let i = start; i < input.length; i++) {
      if (node.apply(input[i], inside(visit, i))) continue;
      isValid = false;
      if (visit.isSilent || visit.run.isFull) return false;
    }
    if (visit.seen) visit.seen.hasAllItems = true;
    return isValid;
  };
}

/** Applies the schemas of a tuple to the items at their places. */
function tuple(nodes: readonly SchemaNode[]): Check {
  return (input, visit) => {
    if (!isList(input)) return true;
    const results = nodes.slice(0, input.length).map((node, index) => {
      visit.seen?.items.add(index);
      return node.apply(input[index], inside(visit, index));
    });
    return !results.includes(false);
  };
}

/** A schema for the items behind the tuple; before draft 2020-12 a list stood for the tuple itself. */
const items: Keyword = (value, context) => {
  if (isList(value)) return value.length === 0 ? undefined : tuple(demandSchemas(value, context));
  const prefix = own(context.schema, 'prefixItems');
  return eachItem(context.subschema(value, context.where), isList(prefix) ? prefix.length : 0);
};

const additionalItems: Keyword = (value, { schema, subschema, where }) => {
  const tupleItems = own(schema, 'items');
  return isList(tupleItems) ? eachItem(subschema(value, where), tupleItems.length) : undefined;
};

function countMatches(node: SchemaNode, input: readonly unknown[], visit: Visit): number {
  let count = 0;
  for (let i = 0; i < input.length; i++) {
    if (!node.apply(input[i], silently(inside(visit, i)))) continue;
    visit.seen?.items.add(i);
    count++;
  }
  return count;
}

const contains: Keyword = (value, { schema, subschema, where }) => {
  const node = subschema(value, where);
  const least = demandCount(own(schema, 'minContains') ?? 1, where.replace(/contains$/, 'minContains'));
  const given = own(schema, 'maxContains');
  const most = given === undefined ? Infinity : demandCount(given, where.replace(/contains$/, 'maxContains'));
  return (input, visit) => {
    if (!isList(input)) return true;
    const count = countMatches(node, input, visit);
    if (count < least) return mismatch(visit, `must contain at least ${least} items of a certain kind`);
    return count <= most || mismatch(visit, `must contain at most ${most} items of a certain kind`);
  };
};

const uniqueItems: Keyword = (value) => {
  if (value !== true) return undefined;
  return (input, visit) => {
    if (!isList(input)) return true;
    const known = new Set<string>();
    for (const [index, item] of input.entries()) {
      known.add(canonicalText(item, visit.run));
      if (known.size <= index) return mismatch(visit, `must not hold an item twice, but item ${index} is there before`);
    }
    return true;
  };
};

function itemLimit(passes: (count: number, limit: number) => boolean, words: string): Keyword {
  return (value, { where }) => {
    const limit = demandCount(value, where);
    return (input, visit) =>
      !isList(input) || passes(input.length, limit) || mismatch(visit, `${words} ${limit} items`);
  };
}

const unevaluatedItems: Keyword = (value, { subschema, where }) => {
  const node = subschema(value, where);
  return (input, visit) => {
    const { seen } = visit;
    if (!isList(input) || !seen || seen.hasAllItems) return true;
    const isValid = input.every((item, index) => seen.items.has(index) || node.apply(item, inside(visit, index)));
    seen.hasAllItems = true;
    return isValid;
  };
};

export const ARRAY_KEYWORDS: readonly [string, Keyword][] = [
  ['minItems', itemLimit((count, limit) => count >= limit, 'must have at least')],
  ['maxItems', itemLimit((count, limit) => count <= limit, 'must have at most')],
  ['prefixItems', (value, context) => tuple(demandSchemas(value, context))],
  ['items', items],
  ['additionalItems', additionalItems],
  ['contains', contains],
  ['uniqueItems', uniqueItems],
];

/** Run when everything else has been applied. */
export const LAST_ARRAY_KEYWORDS: readonly [string, Keyword][] = [['unevaluatedItems', unevaluatedItems]];

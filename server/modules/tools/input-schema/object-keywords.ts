import { pathStep } from './field-path.ts';
import {
  demandCount,
  demandObject,
  demandTexts,
  isList,
  isObject,
  own,
  type Keyword,
  type KeywordContext,
  type LinearPattern,
} from './keyword.ts';
import { inside, mismatch, type Check, type Visit } from './run.ts';
import type { SchemaNode } from './schema-node.ts';

/** Listing the keys of a large object costs this much for each of them. */
const UNITS_PER_KEY = 3;

function keysOf(input: Record<string, unknown>, visit: Visit): string[] {
  const keys = Object.keys(input);
  visit.run.spend(keys.length * UNITS_PER_KEY);
  return keys;
}

function applyTo(node: SchemaNode, input: Record<string, unknown>, at: { key: string; visit: Visit }): boolean {
  at.visit.seen?.properties.add(at.key);
  return node.apply(input[at.key], inside(at.visit, at.key));
}

function namedSchemas(value: unknown, { where, subschema }: KeywordContext): [string, SchemaNode][] {
  return demandObject(value, where).map(([name, schema]) => [name, subschema(schema, where + pathStep(name))]);
}

const properties: Keyword = (value, context) => {
  const nodes = namedSchemas(value, context);
  return (input, visit) => {
    if (!isObject(input)) return true;
    visit.run.spend(nodes.length);
    let isValid = true;
    for (const [key, node] of nodes) {
      if (!Object.hasOwn(input, key) || applyTo(node, input, { key, visit })) continue;
      isValid = false;
      if (visit.isSilent || visit.run.isFull) return false;
    }
    return isValid;
  };
};

function matches(pattern: LinearPattern, text: string, visit: Visit): boolean {
  visit.run.spend((text.length + 1) * pattern.stepsPerCharacter);
  return pattern.test(text);
}

function patternsOf(value: unknown, where: string, context: KeywordContext): LinearPattern[] {
  if (value === undefined) return [];
  return demandObject(value, where).map(([text]) => context.pattern(text, where + pathStep(text)));
}

const patternProperties: Keyword = (value, context) => {
  const patterns = patternsOf(value, context.where, context);
  const nodes = namedSchemas(value, context).map(([, node]) => node);
  return (input, visit) => {
    if (!isObject(input)) return true;
    const results = keysOf(input, visit).flatMap((key) =>
      nodes
        .filter((_node, index) => matches(patterns[index] ?? { test: () => false, stepsPerCharacter: 0 }, key, visit))
        .map((node) => applyTo(node, input, { key, visit })),
    );
    return !results.includes(false);
  };
};

const additionalProperties: Keyword = (value, context) => {
  const named = own(context.schema, 'properties');
  const known = new Set(isObject(named) ? Object.keys(named) : []);
  const beside = context.where.replace(/additionalProperties$/, 'patternProperties');
  const patterns = patternsOf(own(context.schema, 'patternProperties'), beside, context);
  const node = context.subschema(value, context.where);
  return (input, visit) => {
    if (!isObject(input)) return true;
    let isValid = true;
    for (const key of keysOf(input, visit)) {
      if (known.has(key) || patterns.some((pattern) => matches(pattern, key, visit))) continue;
      if (applyTo(node, input, { key, visit })) continue;
      isValid = false;
      if (visit.isSilent || visit.run.isFull) return false;
    }
    return isValid;
  };
};

const propertyNames: Keyword = (value, { subschema, where }) => {
  const node = subschema(value, where);
  return (input, visit) => !isObject(input) || keysOf(input, visit).every((key) => node.apply(key, inside(visit, key)));
};

function demandPresent(names: readonly string[], input: Record<string, unknown>, visit: Visit): boolean {
  visit.run.spend(names.length);
  const missing = names.filter((name) => !Object.hasOwn(input, name));
  for (const name of missing) mismatch(inside(visit, name), 'is required');
  return missing.length === 0;
}

const required: Keyword = (value, { where }) => {
  const names = demandTexts(value, where);
  return (input, visit) => !isObject(input) || demandPresent(names, input, visit);
};

const dependentRequired: Keyword = (value, { where }) => {
  const lists = demandObject(value, where).map(
    ([name, list]) => [name, demandTexts(list, where + pathStep(name))] as const,
  );
  return (input, visit) => {
    if (!isObject(input)) return true;
    visit.run.spend(lists.length);
    return lists.every(([name, names]) => !Object.hasOwn(input, name) || demandPresent(names, input, visit));
  };
};

function whenPresent(name: string, node: SchemaNode): Check {
  return (input, visit) => !isObject(input) || !Object.hasOwn(input, name) || node.apply(input, visit);
}

function all(checks: readonly Check[]): Check {
  return (input, visit) => {
    visit.run.spend(checks.length);
    return checks.every((check) => check(input, visit));
  };
}

const dependentSchemas: Keyword = (value, context) =>
  all(namedSchemas(value, context).map(([name, node]) => whenPresent(name, node)));

/** Draft 7 has one keyword for both kinds of dependency. */
const dependencies: Keyword = (value, context) => {
  const members = demandObject(value, context.where);
  const lists = Object.fromEntries(members.filter(([, member]) => isList(member)));
  const schemas = Object.fromEntries(members.filter(([, member]) => !isList(member)));
  const checks = [dependentRequired(lists, context), dependentSchemas(schemas, context)];
  return all(checks.filter((check) => check !== undefined));
};

function sizeLimit(passes: (count: number, limit: number) => boolean, words: string): Keyword {
  return (value, { where }) => {
    const limit = demandCount(value, where);
    return (input, visit) =>
      !isObject(input) || passes(keysOf(input, visit).length, limit) || mismatch(visit, `${words} ${limit} properties`);
  };
}

const unevaluatedProperties: Keyword = (value, { subschema, where }) => {
  const node = subschema(value, where);
  return (input, visit) => {
    const { seen } = visit;
    if (!isObject(input) || !seen || seen.hasAllProperties) return true;
    const left = keysOf(input, visit).filter((key) => !seen.properties.has(key));
    seen.hasAllProperties = true;
    return left.every((key) => node.apply(input[key], inside(visit, key)));
  };
};

export const OBJECT_KEYWORDS: readonly [string, Keyword][] = [
  ['required', required],
  ['properties', properties],
  ['patternProperties', patternProperties],
  ['additionalProperties', additionalProperties],
  ['propertyNames', propertyNames],
  ['minProperties', sizeLimit((count, limit) => count >= limit, 'must have at least')],
  ['maxProperties', sizeLimit((count, limit) => count <= limit, 'must have at most')],
  ['dependentRequired', dependentRequired],
  ['dependentSchemas', dependentSchemas],
  ['dependencies', dependencies],
];

/** Run when everything else has been applied. */
export const LAST_OBJECT_KEYWORDS: readonly [string, Keyword][] = [['unevaluatedProperties', unevaluatedProperties]];

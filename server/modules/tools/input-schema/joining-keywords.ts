import { demandSchemas, demandText, own, type Keyword } from './keyword.ts';
import { mismatch, silently, type Visit } from './run.ts';
import type { SchemaNode } from './schema-node.ts';

/** Applies a schema whose mismatch is no error; what it saw counts only when it passes. */
function passes(node: SchemaNode, input: unknown, visit: Visit): boolean {
  const quiet = silently(visit);
  if (!node.apply(input, quiet)) return false;
  if (quiet.seen) visit.seen?.add(quiet.seen);
  return true;
}

const allOf: Keyword = (value, context) => {
  const nodes = demandSchemas(value, context);
  return (input, visit) => {
    let isValid = true;
    for (const node of nodes) {
      if (node.apply(input, visit)) continue;
      isValid = false;
      if (visit.isSilent || visit.run.isFull) return false;
    }
    return isValid;
  };
};

const anyOf: Keyword = (value, context) => {
  const nodes = demandSchemas(value, context);
  return (input, visit) => {
    // Where somebody asks for what is left over, every alternative has to have its say.
    const isValid = visit.seen
      ? nodes.filter((node) => passes(node, input, visit)).length > 0
      : nodes.some((node) => passes(node, input, visit));
    return isValid || mismatch(visit, 'has none of the forms that its schema allows (anyOf)');
  };
};

const oneOf: Keyword = (value, context) => {
  const nodes = demandSchemas(value, context);
  return (input, visit) => {
    const count = nodes.filter((node) => passes(node, input, visit)).length;
    if (count === 1) return true;
    const complaint = count === 0 ? 'has none of the forms' : `has ${count} at once of the forms`;
    return mismatch(visit, `${complaint} of which its schema allows exactly one (oneOf)`);
  };
};

const not: Keyword = (value, { subschema, where }) => {
  const node = subschema(value, where);
  return (input, visit) =>
    !node.apply(input, silently(visit)) || mismatch(visit, 'has a form that its schema rules out (not)');
};

const condition: Keyword = (value, { schema, subschema, where }) => {
  const branch = (name: 'then' | 'else'): SchemaNode | undefined => {
    const found = own(schema, name);
    return found === undefined ? undefined : subschema(found, where.replace(/if$/, name));
  };
  const test = subschema(value, where);
  const [thenNode, elseNode] = [branch('then'), branch('else')];
  return (input, visit) => {
    const chosen = passes(test, input, visit) ? thenNode : elseNode;
    return chosen?.apply(input, visit) ?? true;
  };
};

/** There is one document and one base, so a dynamic reference finds what a plain one would. */
const reference: Keyword = (value, context) => {
  const node = context.reference(demandText(value, context.where), context.where);
  return (input, visit) => node.apply(input, visit);
};

/** Keywords that join schemas about one and the same value. */
export const JOINING_KEYWORDS: readonly [string, Keyword][] = [
  ['$ref', reference],
  ['$dynamicRef', reference],
  ['$recursiveRef', reference],
  ['allOf', allOf],
  ['anyOf', anyOf],
  ['oneOf', oneOf],
  ['not', not],
  ['if', condition],
];

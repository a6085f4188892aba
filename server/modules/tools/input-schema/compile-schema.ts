import { ARRAY_KEYWORDS, LAST_ARRAY_KEYWORDS } from './array-keywords.ts';
import { JOINING_KEYWORDS } from './joining-keywords.ts';
import { isObject, own, SchemaMistake, type Keyword, type KeywordContext } from './keyword.ts';
import { createPatternCompiler } from './linear-pattern.ts';
import { LAST_OBJECT_KEYWORDS, OBJECT_KEYWORDS } from './object-keywords.ts';
import { PLAIN_KEYWORDS } from './plain-keywords.ts';
import { resolveReference, schemaDocument } from './resolve-reference.ts';
import type { Check } from './run.ts';
import { checkSchemaLimits } from './schema-limits.ts';
import { nothing, SchemaNode } from './schema-node.ts';

/** In the order in which they are checked: the type first, because it explains most. */
const KEYWORDS = new Map<string, Keyword>([
  ...PLAIN_KEYWORDS,
  ...ARRAY_KEYWORDS,
  ...OBJECT_KEYWORDS,
  ...JOINING_KEYWORDS,
]);
const LAST_KEYWORDS = new Map<string, Keyword>([...LAST_ARRAY_KEYWORDS, ...LAST_OBJECT_KEYWORDS]);

const DIALECT = /^https?:\/\/json-schema\.org\/(draft\/(?:2020-12|2019-09)|draft-0[67])\/schema#?$/;

/** Up to draft 7 a reference stands alone: what is written beside it does not count. */
function refStandsAlone(root: Record<string, unknown>): boolean {
  const dialect = own(root, '$schema');
  if (dialect === undefined) return false;
  const draft = typeof dialect === 'string' ? DIALECT.exec(dialect)?.[1] : undefined;
  if (draft === undefined) throw new SchemaMistake('.$schema', 'must name JSON Schema draft 2020-12 or 7');
  return draft.startsWith('draft-');
}

/** An id inside the document would move the base of the references below it. */
function refuseInnerId(schema: Record<string, unknown>, where: string): void {
  const id = own(schema, '$id');
  if (where === '' || typeof id !== 'string' || id.startsWith('#')) return;
  throw new SchemaMistake(`${where}.$id`, 'must not be there: only the whole schema may have an id');
}

interface Unfilled {
  schema: Record<string, unknown>;
  node: SchemaNode;
  where: string;
}

/** Turns a schema document into nodes, each part once however often it is referred to, and without recursion. */
class Compilation {
  readonly #nodes = new Map<object, SchemaNode>();
  readonly #waiting: Unfilled[] = [];
  readonly #pattern = createPatternCompiler();
  readonly #document;
  readonly #refStandsAlone: boolean;

  constructor(root: Record<string, unknown>) {
    this.#document = schemaDocument(root);
    this.#refStandsAlone = refStandsAlone(root);
  }

  run(): SchemaNode {
    const root = this.#nodeOf(this.#document.root, '');
    for (let next = this.#waiting.pop(); next; next = this.#waiting.pop()) this.#fill(next);
    return root;
  }

  #nodeOf(schema: unknown, where: string): SchemaNode {
    if (typeof schema === 'boolean') {
      const node = new SchemaNode();
      if (!schema) node.checks.push(nothing);
      return node;
    }
    if (!isObject(schema)) throw new SchemaMistake(where, 'must be a schema: an object, true or false');
    const known = this.#nodes.get(schema);
    if (known) return known;
    const node = new SchemaNode();
    this.#nodes.set(schema, node);
    this.#waiting.push({ schema, node, where });
    return node;
  }

  #fill({ schema, node, where }: Unfilled): void {
    refuseInnerId(schema, where);
    const isAlone = this.#refStandsAlone && Object.hasOwn(schema, '$ref');
    const add = (keywords: ReadonlyMap<string, Keyword>, checks: Check[]): void => {
      for (const [name, keyword] of keywords) {
        if (!Object.hasOwn(schema, name) || (isAlone && name !== '$ref')) continue;
        const check = keyword(schema[name], this.#context(schema, `${where}.${name}`));
        if (check) checks.push(check);
      }
    };
    add(KEYWORDS, node.checks);
    add(LAST_KEYWORDS, node.lastChecks);
  }

  #context(schema: Record<string, unknown>, where: string): KeywordContext {
    return {
      schema,
      where,
      subschema: (part, at) => this.#nodeOf(part, at),
      reference: (target, at) => {
        const found = resolveReference(this.#document, target, at);
        return this.#nodeOf(found.schema, found.where);
      },
      pattern: this.#pattern,
    };
  }
}

/** Makes a schema ready to be applied. Throws SchemaMistake naming the part that cannot be used; changes nothing. */
export function compileSchema(schema: Record<string, unknown>): SchemaNode {
  checkSchemaLimits(schema);
  return new Compilation(schema).run();
}

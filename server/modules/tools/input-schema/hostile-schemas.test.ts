import { describe, expect, test } from 'vitest';
import { inputValidator } from './index.ts';

/** A schema that doubles at each of `levels` references, joined by `keyword`. */
function doubling(keyword: 'allOf' | 'anyOf' | 'oneOf', levels: number, leaf: object): Record<string, unknown> {
  const $defs: Record<string, unknown> = { [`d${levels}`]: leaf };
  for (let level = 0; level < levels; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = { [keyword]: [next, next] };
  }
  return { properties: { x: { $ref: '#/$defs/d0' } }, $defs };
}

function nested(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let level = 0; level < levels; level++) value = { a: value, b: value };
  return value;
}

const twiceItself = { properties: { a: { $ref: '#' } } };

describe('checks that would never end are given up, and say so', () => {
  test.each([
    ['allOf doubled 40 times', doubling('allOf', 28, {}), { x: 1 }],
    ['anyOf doubled, every branch failing', doubling('anyOf', 28, { type: 'string' }), { x: 1 }],
    ['oneOf doubled', doubling('oneOf', 28, {}), { x: 1 }],
    ['a schema that is itself', { allOf: [{ $ref: '#' }] }, {}],
    ['a schema doubled at each level of the input', { allOf: [twiceItself, twiceItself] }, nested(20)],
    [
      'many patterns over long text',
      { properties: { x: { allOf: Array.from({ length: 60 }, (_, i) => ({ pattern: `(a|b)*a(a|b){${i + 1}}c` })) } } },
      { x: 'ab'.repeat(70_000) },
    ],
  ])('%s', (_name, schema, input) => {
    expect(inputValidator(schema)(input)).toMatch(/^input cannot be checked: /);
  });
});

describe('schemas that are refused when they are given, by the part that is wrong', () => {
  const deep = { properties: {} };
  for (let level = 0, at: Record<string, unknown> = deep; level < 40; level++) {
    const next = { properties: {} };
    at['properties'] = { a: next };
    at = next;
  }
  test.each([
    [{ properties: { x: { pattern: '(?=a)b' } } }, 'input_schema.properties.x.pattern'],
    [{ properties: { x: { $ref: '#/$defs/absent' } } }, 'input_schema.properties.x.$ref'],
    [{ properties: { x: { $ref: 'https://example.com/schema' } } }, 'input_schema.properties.x.$ref'],
    [{ properties: { x: { $id: 'https://json-schema.org/draft/2020-12/schema' } } }, 'input_schema.properties.x.$id'],
    [{ properties: { x: { type: 'text' } } }, 'input_schema.properties.x.type'],
    [{ properties: { x: { minimum: 'low' } } }, 'input_schema.properties.x.minimum'],
    [{ properties: { x: { exclusiveMinimum: true } } }, 'input_schema.properties.x.exclusiveMinimum'],
    [{ type: 'string' }, 'input_schema.type'],
    [{ enum: Array.from({ length: 3000 }, (_, i) => i) }, 'input_schema has more than'],
    [{ description: 'x'.repeat(70_000) }, 'input_schema is larger than'],
    [{ properties: { x: { pattern: 'a'.repeat(9000) } } }, 'input_schema.properties.x.pattern'],
    [deep, 'input_schema nests deeper'],
  ])('%#: %j', (schema, part) => {
    expect(() => inputValidator(schema)).toThrow(part);
  });
});

describe('names that reach into prototypes mean properties and nothing else', () => {
  test.each(['constructor', 'toString', 'hasOwnProperty', "it's", 'a"b', 'line\nbreak', '\\', '${x}'])('%j', (name) => {
    const check = inputValidator({ required: [name], properties: { [name]: { type: 'string' } } });
    expect(check({})).toContain('is required');
    expect(check({ [name]: 'x' })).toBeUndefined();
    expect(check({ [name]: 1 })).toContain('must be a string');
  });

  test('__proto__ as parsed from JSON', () => {
    const schema: unknown = JSON.parse('{"required":["__proto__"],"properties":{"__proto__":{"type":"string"}}}');
    const check = inputValidator(Object.assign(Object.create(null), schema));
    expect(check({})).toContain('is required');
  });
});

test('patterns that hang a backtracking engine are checked in linear time', () => {
  const check = inputValidator({ properties: { x: { pattern: '^(a+)+$' } } });
  expect(check({ x: 'a'.repeat(10_000) })).toBeUndefined();
  expect(check({ x: `${'a'.repeat(10_000)}b` })).toContain('must match the pattern');
});

test('a schema is not changed by being used', () => {
  const schema = { type: 'object', properties: { x: { $ref: '#/$defs/y' } }, $defs: { y: { type: 'integer' } } };
  const before = structuredClone(schema);
  inputValidator(schema)({ x: 1 });
  expect(schema).toEqual(before);
});

test('values that look like references are values', () => {
  const check = inputValidator({ properties: { x: { enum: [{ $ref: '#/nowhere' }] } } });
  expect(check({ x: { $ref: '#/nowhere' } })).toBeUndefined();
});

import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inputValidator } from './index.ts';

// The reference: a widely used implementation of the standard. It cannot be bounded, so it only judges here.
const reference = new Ajv2020({ strict: false, ownProperties: true, addUsedSchema: false });

const NAMES = ['a', 'b', 'c'];
const name = fc.constantFrom(...NAMES);
const leaf = fc.oneof(fc.constantFrom('', 'x', 'xy', 'xyz', 0, 1, 2, 2.5, -1, null), fc.boolean());

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

const input = fc.dictionary(name, value, { maxKeys: 3, noNullPrototype: true });

const { schema } = fc.letrec((tie) => {
  const schemas = fc.array(tie('schema'), { minLength: 1, maxLength: 3 });
  const count = fc.integer({ min: 0, max: 3 });
  const names = fc.uniqueArray(name, { maxLength: 2 });
  return {
    schema: fc.oneof(
      { depthSize: 'small' },
      fc.boolean(),
      fc.record({ type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object') }),
      fc.record({ enum: fc.array(value, { minLength: 1, maxLength: 3 }) }),
      fc.record({ const: value }),
      fc.record({ minimum: count, exclusiveMaximum: count }),
      fc.record({ multipleOf: fc.constantFrom(1, 2, 0.5) }),
      fc.record({ minLength: count, maxLength: count }),
      fc.record({ pattern: fc.constantFrom('^x', 'y$', '^[a-x]*$', '\\d') }),
      fc.record({ minItems: count, uniqueItems: fc.boolean() }),
      fc.record({ prefixItems: schemas, items: tie('schema') }, { requiredKeys: ['items'] }),
      fc.record({ contains: tie('schema'), minContains: count }, { requiredKeys: ['contains'] }),
      fc.record(
        {
          properties: fc.dictionary(name, tie('schema'), { maxKeys: 3, noNullPrototype: true }),
          patternProperties: fc.dictionary(fc.constantFrom('^a', 'b|c'), tie('schema'), {
            maxKeys: 2,
            noNullPrototype: true,
          }),
          additionalProperties: tie('schema'),
          required: names,
        },
        { requiredKeys: [] },
      ),
      fc.record({ propertyNames: tie('schema'), minProperties: count, maxProperties: count }, { requiredKeys: [] }),
      fc.record({ dependentRequired: fc.dictionary(name, names, { maxKeys: 2, noNullPrototype: true }) }),
      fc.record({ dependentSchemas: fc.dictionary(name, tie('schema'), { maxKeys: 2, noNullPrototype: true }) }),
      fc.record({ allOf: schemas }),
      fc.record({ anyOf: schemas }),
      fc.record({ oneOf: schemas }),
      fc.record({ not: tie('schema') }),
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      fc.record({ if: tie('schema'), then: tie('schema'), else: tie('schema') }, { requiredKeys: ['if'] }),
    ),
  };
});

// What is left over (unevaluated…) is in the table below: there the reference counts what failing branches looked at.
test('any schema and any input get the verdict of the reference implementation', () => {
  fc.assert(
    fc.property(schema, input, (part, given) => {
      const whole = { allOf: [part] };
      const expected = reference.compile(whole)(given);
      expect(inputValidator(whole)(given) === undefined).toBe(expected);
      reference.removeSchema(whole);
    }),
    { numRuns: 5000 },
  );
});

describe('features of the drafts', () => {
  const tree = { type: 'object', properties: { a: { $ref: '#' }, b: { type: 'string' } } };
  const draft7 = 'http://json-schema.org/draft-07/schema#';
  test.each([
    ['recursion', tree, { a: { a: { b: 'x' } } }, { a: { a: { b: 1 } } }],
    ['$defs', { properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: { type: 'null' } } }, { a: null }, { a: 1 }],
    [
      '$anchor',
      { properties: { a: { $ref: '#n' } }, $defs: { n: { $anchor: 'n', type: 'null' } } },
      { a: null },
      { a: 1 },
    ],
    [
      'escaped pointers',
      { properties: { a: { $ref: '#/$defs/x~1y' } }, $defs: { 'x/y': { const: 1 } } },
      { a: 1 },
      { a: 2 },
    ],
    [
      'tuples of draft 7',
      { $schema: draft7, properties: { a: { items: [{ const: 1 }], additionalItems: false } } },
      { a: [1] },
      { a: [1, 2] },
    ],
    [
      'dependencies of draft 7',
      { $schema: draft7, dependencies: { a: ['b'], c: { required: ['a'] } } },
      { a: 1, b: 1 },
      { c: 1 },
    ],
    ['nullable text', { properties: { a: { type: ['string', 'null'] } } }, { a: null }, { a: 1 }],
    [
      'unevaluatedProperties',
      {
        anyOf: [{ properties: { a: true }, required: ['a'] }, { properties: { b: true } }],
        unevaluatedProperties: false,
      },
      { a: 1, b: 1 },
      { b: 1, c: 1 },
    ],
    [
      'unevaluatedItems',
      { properties: { a: { prefixItems: [true], unevaluatedItems: { const: 2 } } } },
      { a: [1, 2, 2] },
      { a: [1, 3] },
    ],
  ])('%s', (_name, given, good, bad) => {
    const check = inputValidator(given);
    expect(check(good)).toBeUndefined();
    expect(check(bad)).toEqual(expect.any(String));
    const options = { strict: false };
    const judge = '$schema' in given ? new Ajv(options).compile(given) : new Ajv2020(options).compile(given);
    expect([judge(good), judge(bad)]).toEqual([true, false]);
  });
});

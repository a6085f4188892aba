import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { exampleEvents, exampleOf } from './example-of.ts';
import { asJsonSchema } from './json-schema.ts';
import { OneOf } from './schemas.ts';

describe('an example', () => {
  it.each([
    ['the first of its own examples', Type.String({ examples: ['a', 'b'], default: 'c' }), 'a'],
    ['its default', Type.Integer({ default: 5 }), 5],
    ['its constant, false too', Type.Literal(false), false],
    ['the first listed value', OneOf(['free', 'pro']), 'free'],
    ['an alternative that has one', Type.Union([Type.String(), Type.Null()]), null],
    ['true for a boolean', Type.Boolean(), true],
    ['an array of one', Type.Array(OneOf(['read'])), ['read']],
  ])('is %s', (_name, schema, expected) => {
    expect(exampleOf(asJsonSchema(schema))).toEqual(expected);
  });

  it('leaves out optional fields that state none', () => {
    const schema = Type.Object({ name: Type.String({ examples: ['crm'] }), note: Type.Optional(Type.String()) });
    expect(exampleOf(schema)).toEqual({ name: 'crm' });
  });

  it('is absent when a required part states none', () => {
    expect(exampleOf(Type.Object({ name: Type.String() }))).toBeUndefined();
    expect(exampleOf(Type.Array(Type.String()))).toBeUndefined();
  });
});

describe('example events', () => {
  it('are all examples of the schema, else one of each kind', () => {
    const kinds = [Type.Object({ type: Type.Literal('text') }), Type.Object({ type: Type.Literal('done') })];
    expect(exampleEvents(Type.Union(kinds, { examples: [{ type: 'text' }] }))).toEqual([{ type: 'text' }]);
    expect(exampleEvents(Type.Union(kinds))).toEqual([{ type: 'text' }, { type: 'done' }]);
  });
});

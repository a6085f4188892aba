import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { compileValidator } from './index.ts';

const validate = compileValidator(
  Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1 })),
    ratio: Type.Optional(Type.Number()),
    enabled: Type.Optional(Type.Boolean()),
    name: Type.Optional(Type.String()),
  }),
  'querystring',
);

test.each([
  [{ limit: '5' }, { limit: 5 }],
  [{ ratio: '-1.5' }, { ratio: -1.5 }],
  [{ enabled: 'false' }, { enabled: false }],
  [{ name: '5' }, { name: '5' }],
  [{ unknown: '5' }, { unknown: '5' }],
  [{}, {}],
])('%j is taken', (query, value) => {
  expect(validate(query)).toEqual({ value });
});

test.each([
  [{ limit: '1.5' }, 'limit must be an integer.'],
  [{ limit: '1e2' }, 'limit must be an integer.'],
  [{ limit: '0x10' }, 'limit must be an integer.'],
  [{ limit: ' 5 ' }, 'limit must be an integer.'],
  [{ limit: '' }, 'limit must be an integer.'],
  [{ limit: 'true' }, 'limit must be an integer.'],
  [{ limit: ['1', '2'] }, 'limit must be an integer.'],
  [{ limit: '0' }, 'limit must be >= 1.'],
  [{ ratio: '.5.' }, 'ratio must be a number.'],
  [{ enabled: 'yes' }, 'enabled must be a boolean.'],
])('%j is refused by name', (query, message) => {
  expect(validate(query)).toMatchObject({ error: { message } });
});

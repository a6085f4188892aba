import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hiddenTexts, hideValues, looksSecret, revealValues } from './hidden-values.ts';

describe('keys', () => {
  test.each([
    'password',
    'dbPasswd',
    'user_pwd',
    'clientSecret',
    'secret',
    'accessToken',
    'X-Auth-Token',
    'idJwt',
    'Authorization',
    'Set-Cookie',
    'apiKey',
    'API_KEY',
    'api.key',
    'privateKey',
    'signing-key',
    'credentials',
    '密码',
    '接口密钥',
  ])('that look secret: %s', (key) => {
    expect(looksSecret(key)).toBe(true);
  });

  test.each([
    'key',
    'keyboard',
    'primaryKey',
    'author',
    'maxTokens',
    'max_tokens',
    'tokenUrl',
    'token_endpoint',
    'tokenType',
    'passwordResetUrl',
    'credentialName',
    'secretCount',
    'compass',
    'id',
    '名称',
  ])('that do not: %s', (key) => {
    expect(looksSecret(key)).toBe(false);
  });
});

test('values of headers, of secret keys and of addresses with a password are hidden; names of credentials are not', () => {
  const { shown, values } = hideValues({
    app: { id: 'crm' },
    serviceConfig: {
      credentials: ['token'],
      headers: { Accept: 'application/json', 'X-Retry': true, 'a/b~c': 7 },
      oauth: { clientSecret: { production: 'p', staging: ['s', null, 1] }, scope: 'all' },
    },
    mirror: 'https://me:hunter2@example.com/',
    plain: 'https://example.com/me:you@there',
    tokens: [{ value: 'x' }],
  });
  expect(shown).toEqual({
    app: { id: 'crm' },
    serviceConfig: {
      credentials: ['token'],
      headers: { Accept: '***', 'X-Retry': '***', 'a/b~c': '***' },
      oauth: { clientSecret: { production: '***', staging: ['***', null, '***'] }, scope: 'all' },
    },
    mirror: '***',
    plain: 'https://example.com/me:you@there',
    tokens: [{ value: '***' }],
  });
  expect([...values].map(([pointer, { value }]) => [pointer, value])).toEqual([
    ['/serviceConfig/headers/Accept', 'application/json'],
    ['/serviceConfig/headers/X-Retry', true],
    ['/serviceConfig/headers/a~1b~0c', 7],
    ['/serviceConfig/oauth/clientSecret/production', 'p'],
    ['/serviceConfig/oauth/clientSecret/staging/0', 's'],
    ['/serviceConfig/oauth/clientSecret/staging/2', 1],
    ['/mirror', 'https://me:hunter2@example.com/'],
    ['/tokens/0/value', 'x'],
  ]);
});

test('any JSON comes back as it was', () => {
  const key = fc.oneof(fc.constantFrom('headers', 'serviceConfig', 'password', 'a/b', '~1', '__proto__x'), fc.string());
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5 },
      fc.jsonValue(),
      fc.constant('***'),
      fc.array(tie('tree')),
      fc.dictionary(key, tie('tree')),
    ),
  }));
  fc.assert(
    fc.property(tree, (value) => {
      const { shown, values } = hideValues(value);
      expect(revealValues(shown, (pointer) => values.get(pointer)?.value)).toEqual(value);
      const texts = [...values.values()].map((hidden) => String(hidden.value)).filter((text) => text !== '***');
      expect(hiddenTexts(shown, value).toSorted()).toEqual(texts.toSorted());
    }),
  );
});

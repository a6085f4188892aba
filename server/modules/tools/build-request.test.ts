import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Execution } from '../../../contract/routes/tools.ts';
import { UnbuildableRequest } from './build-failure.ts';
import { buildRequest } from './build-request.ts';
import { UnfillablePlaceholder } from './placeholders.ts';

function http(rest: Omit<Execution, 'type'>): Execution {
  return { type: 'http', ...rest };
}

describe('where input goes', () => {
  const base = 'https://api.example.com';
  test.each([
    [
      'the path',
      http({ url: `${base}/orders/{id}` }),
      { id: 'a b/c?d#e' },
      `${base}/orders/a%20b%2Fc%3Fd%23e`,
      undefined,
    ],
    [
      'the rest of a GET to the query',
      http({ url: `${base}/x` }),
      { q: '日本', n: 2, yes: true },
      `${base}/x?q=%E6%97%A5%E6%9C%AC&n=2&yes=true`,
      undefined,
    ],
    ['lists repeat their name', http({ url: `${base}/x` }), { id: [1, 2] }, `${base}/x?id=1&id=2`, undefined],
    ['objects as JSON', http({ url: `${base}/x` }), { f: { a: 1 } }, `${base}/x?f=%7B%22a%22%3A1%7D`, undefined],
    [
      'absent values of the own query are left out',
      http({ url: `${base}/x?q={q}&limit={limit}&v=%20` }),
      { q: 'a' },
      `${base}/x?q=a&v=%20`,
      undefined,
    ],
    [
      'lists in the own query',
      http({ url: `${base}/x?id={ids}` }),
      { ids: ['a', 'b'] },
      `${base}/x?id=a&id=b`,
      undefined,
    ],
    [
      'params',
      http({ url: `${base}/x`, params: { lat: '{lat}', fixed: 'v', none: '{none}' } }),
      { lat: 1.5 },
      `${base}/x?lat=1.5&fixed=v`,
      undefined,
    ],
    [
      'the rest of a POST to the body',
      http({ url: `${base}/{id}`, method: 'POST' }),
      { id: '1', n: 2 },
      `${base}/1`,
      '{"n":2}',
    ],
    [
      'an own body keeps types, and gets nothing more',
      http({ url: base, body: { a: '{n}', b: 'no {n}', c: ['{n}', '{absent}'], d: '{absent}' } }),
      { n: 2, more: 1 },
      `${base}/`,
      '{"a":2,"b":"no 2","c":[2]}',
    ],
    [
      'double braces are left alone',
      http({ url: base, method: 'POST', body: { t: '{{credentials.t}}' } }),
      { 'credentials.t': 'stolen' },
      `${base}/`,
      '{"t":"{{credentials.t}}"}',
    ],
  ])('%s', (_name, execution, input, url, body) => {
    const request = buildRequest(execution, input);
    expect([request.url, request.body]).toEqual([url, body]);
  });

  test('headers are filled, left out when absent, and the tool’s own win over those of its app', () => {
    const execution = http({ url: '/x', headers: { 'X-Trace': 'id-{id}', 'X-None': '{none}', Authorization: 'own' } });
    const binding = { baseUrl: 'https://app.example.com/v2/', headers: { authorization: 'app', 'X-App': '1' } };
    expect(buildRequest(execution, { id: 7 }, binding)).toEqual({
      method: 'GET',
      url: 'https://app.example.com/v2/x',
      headers: { authorization: 'own', 'x-app': '1', 'x-trace': 'id-7' },
    });
  });
});

describe('what an app adds', () => {
  const binding = {
    baseUrl: 'https://app.example.com/v2',
    headers: { Authorization: 'Bearer {{credentials.token}}' },
    credentials: { token: 't-{id}', 'user name': 'ann' },
  };

  test('credentials fill headers, params and body, and are no templates themselves', () => {
    const execution = http({
      method: 'POST',
      url: '/x',
      headers: { 'X-Key': 'k {{ credentials.token }} {id}' },
      params: { key: '{{credentials.token}}' },
      body: { deep: [{ user: '{{credentials.user name}}', said: '{text}' }] },
    });
    expect(buildRequest(execution, { id: 7, text: '{{credentials.token}}' }, binding)).toEqual({
      method: 'POST',
      url: 'https://app.example.com/v2/x?key=t-%7Bid%7D',
      headers: { 'content-type': 'application/json', authorization: 'Bearer t-{id}', 'x-key': 'k t-{id} 7' },
      body: JSON.stringify({ deep: [{ user: 'ann', said: '{{credentials.token}}' }] }),
    });
  });

  test('headers of the app go to its own service alone', () => {
    expect(buildRequest(http({ url: 'https://elsewhere.example.com/x' }), {}, binding).headers).toEqual({});
    expect(buildRequest(http({ url: 'https://app.example.com/y' }), {}, binding).headers).toEqual({
      authorization: 'Bearer t-{id}',
    });
  });

  test('a credential that nobody gave is named', () => {
    expect(() => buildRequest(http({ url: '/x' }), {}, { ...binding, credentials: {} })).toThrow(UnbuildableRequest);
    expect(() => buildRequest(http({ url: '/x' }), {}, { ...binding, credentials: {} })).toThrow('"token"');
  });
});

describe('what is refused', () => {
  test.each([
    ['a missing part of the path', { url: 'http://a/{id}' }, {}, 'input.id is required'],
    ['an empty one', { url: 'http://a/{id}' }, { id: '' }, 'input.id is required'],
    ['a step up', { url: 'http://a/x/{id}/y' }, { id: '..' }, 'input.id must not be ".."'],
    ['a line break in a header', { url: 'http://a', headers: { h: '{v}' } }, { v: 'a\r\nb: c' }, 'The header h'],
    ['inherited names', { url: 'http://a/{constructor}' }, {}, 'input.constructor is required'],
  ])('%s is the input’s fault', (_name, execution, input, part) => {
    expect(() => buildRequest(http(execution), input)).toThrow(UnfillablePlaceholder);
    expect(() => buildRequest(http(execution), input)).toThrow(part);
  });

  test('a relative url without an app is the definition’s fault', () => {
    expect(() => buildRequest(http({ url: '/x' }), {})).toThrow(UnbuildableRequest);
  });
});

test('no input changes the host, the scheme or the fixed part of the path', () => {
  const execution = http({ url: 'https://api.example.com:8443/v1/{a}/x/{b}?q={q}', params: { p: '{p}' } });
  const text = fc.string({ unit: 'binary', minLength: 1 });
  fc.assert(
    fc.property(fc.record({ a: text, b: text, q: text, p: text }), (input) => {
      if ([input.a, input.b].some((part) => part === '.' || part === '..')) return;
      const url = new URL(buildRequest(execution, input).url);
      expect(url.origin).toBe('https://api.example.com:8443');
      expect(url.pathname.split('/').filter((_part, index) => index !== 2 && index !== 4)).toEqual(['', 'v1', 'x']);
      expect(url.searchParams.get('q')).toBe(input.q.toWellFormed());
      expect(url.searchParams.get('p')).toBe(input.p.toWellFormed());
    }),
  );
});

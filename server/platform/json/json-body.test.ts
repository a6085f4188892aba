import { describe, expect, test } from 'vitest';
import { AppError } from '../errors/index.ts';
import { parseJsonBody } from './json-body.ts';

function refusalOf(body: string | Buffer): { code: string; message: string } {
  try {
    parseJsonBody(Buffer.from(body));
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('the body was accepted');
}

describe('bodies that are taken', () => {
  test.each([
    ['{"a":[1,2,{"b":"ü😀"}]}', { a: [1, 2, { b: 'ü😀' }] }],
    ['"\\ud83d\\ude00"', '😀'],
    ['{"text":"\\\\u0000 spelled out"}', { text: '\\u0000 spelled out' }],
    ['{"brackets":"[[[[{{{{"}', { brackets: '[[[[{{{{' }],
    [`${'['.repeat(100)}${']'.repeat(100)}`, JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`)],
  ])('%s', (text, value) => {
    expect(parseJsonBody(Buffer.from(text))).toEqual(value);
  });

  test('an empty body is no value', () => {
    expect(parseJsonBody(Buffer.alloc(0))).toBeUndefined();
  });
});

describe('bodies that are refused', () => {
  test.each([
    ['{"a":', 'INVALID_JSON', 'not well-formed'],
    ['{"__proto__":{"isAdmin":true}}', 'INVALID_JSON', '__proto__'],
    ['{"a":{"\\u005f_proto__":1}}', 'INVALID_JSON', '__proto__'],
    ['{"constructor":{"prototype":{}}}', 'INVALID_JSON', 'constructor'],
    [`${'['.repeat(101)}${']'.repeat(101)}`, 'INVALID_JSON', 'deeper than 100'],
    [`{"a":"${'x'.repeat(300)}","b":${'{"b":'.repeat(101)}1${'}'.repeat(102)}`, 'INVALID_JSON', 'deeper than 100'],
    ['{"list":[{"name":"a\\u0000b"}]}', 'INVALID_REQUEST', 'list[0].name contains the character U+0000'],
    ['{"name":"a\\ud83d"}', 'INVALID_REQUEST', 'name contains half of a surrogate pair'],
    ['{"a\\u0000":1}', 'INVALID_REQUEST', 'A key of the body'],
  ])('%s', (text, code, part) => {
    const refusal = refusalOf(text);
    expect(refusal.code).toBe(code);
    expect(refusal.message).toContain(part);
  });

  test('bytes that are not UTF-8', () => {
    expect(refusalOf(Buffer.from([0x22, 0xff, 0xfe, 0x22]))).toMatchObject({ code: 'INVALID_JSON' });
  });

  test('ten megabytes of opening brackets', () => {
    expect(refusalOf('['.repeat(10 * 1024 * 1024))).toMatchObject({ code: 'INVALID_JSON' });
  });
});

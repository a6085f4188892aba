import { describe, expect, it } from 'vitest';
import { redactMessage, refusal } from './vendor-failure.ts';

const call = { upstream: 'm', apiKey: 'configured-key', timeoutMs: 1, idleTimeoutMs: 1 };

describe('the words of a vendor', () => {
  it.each([
    [
      'Incorrect API key provided: sk-proj-a1b2*****wxyz. Find yours at https://x',
      'Incorrect API key provided: ***. Find yours at https://x',
    ],
    ['got configured-key', 'got ***'],
    ['header "Authorization: Bearer abc.def" is bad', 'header "Authorization: *** is bad'],
    ['token 0123456789abcdef0123456789abcdef', 'token ***'],
    ['model: claude-sonnet-4-5-20250929 not found', 'model: claude-sonnet-4-5-20250929 not found'],
    ['two\r\nlines\u0000', 'two lines'],
  ])('%j are shown as %j', (words, shown) => {
    expect(redactMessage(words, call.apiKey)).toBe(shown);
  });

  it('are cut when they are long', () => {
    expect(redactMessage('word '.repeat(1000), '').length).toBeLessThan(310);
  });

  it.each([
    ['{"type":"error","error":{"type":"invalid_request_error","message":"too long"}}', 'too long'],
    ['{"error":{"message":"too long","type":"x","param":null,"code":null}}', 'too long'],
    ['[{"error":{"message":"too long"}}]', 'too long'],
    ['{"error":"too long"}', 'too long'],
    ['{"message":"too long"}', 'too long'],
    ['{"detail":"too long"}', 'too long'],
  ])('are found in %s', (body, words) => {
    expect(refusal(400, body, call).message).toBe(`The AI vendor refused the request (status 400): ${words}`);
  });

  it.each(['', 'null', '[]', '<html>secret stack</html>', '{"error":{"message":7}}'])('may be missing: %j', (body) => {
    expect(refusal(502, body, call).message).toBe('The AI vendor failed (status 502).');
  });
});

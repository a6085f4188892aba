import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createModels } from './create-models.ts';
import { readModelSettings } from './models.settings.ts';

const http = { request: () => Promise.reject(new Error('nothing is called here')) };

function models(env: NodeJS.ProcessEnv) {
  const mistakes: string[] = [];
  const settings = readModelSettings(env, mistakes);
  expect(mistakes).toEqual([]);
  return createModels({ settings, http });
}

function mistakesOf(env: NodeJS.ProcessEnv): string[] {
  const mistakes: string[] = [];
  readModelSettings(env, mistakes);
  return mistakes;
}

function defaultKey(env: NodeJS.ProcessEnv): string | undefined {
  return readModelSettings(env, []).defaultVendor.apiKey?.reveal();
}

function listed(env: NodeJS.ProcessEnv): [string, string][] {
  return [...readModelSettings(env, []).models];
}

const other = { AI_OTHER_BASE_URL: 'http://127.0.0.1:9/v1/', AI_OTHER_API_KEY: 'k2' };

describe('model settings', () => {
  it('have defaults that name the vendor', () => {
    const mistakes: string[] = [];
    expect(readModelSettings({}, mistakes)).toMatchObject({
      defaultVendor: { protocol: 'anthropic', baseUrl: 'https://api.anthropic.com/v1', apiKey: undefined },
      defaultModel: 'neutral-sonnet-4-20250514',
      models: new Map([
        ['neutral-sonnet-4-20250514', 'neutral-sonnet-4-20250514'],
        ['neutral-opus-4-20250514', 'neutral-opus-4-20250514'],
        ['other:large-235b-a22b', 'large-235b-a22b'],
      ]),
      basicModels: new Set(['neutral-sonnet-4-20250514']),
      maxConcurrency: 256,
      maxOutputTokens: 8192,
      timeoutMs: 120_000,
      idleTimeoutMs: 60_000,
    });
    expect(readModelSettings({ AI_DEFAULT_PROTOCOL: 'openai' }, mistakes).defaultVendor.baseUrl).toBe(
      'https://api.openai.com/v1',
    );
    expect(mistakes).toEqual([]);
  });

  it('offer the default model first, under its own name or as it is mapped', () => {
    expect(listed({ AI_DEFAULT_MODEL: 'mine' })[0]).toEqual(['mine', 'mine']);
    expect(listed({ AI_DEFAULT_MODEL: 'b', AI_MODELS: 'a, b = up' })).toEqual([
      ['b', 'up'],
      ['a', 'a'],
    ]);
  });

  it('honour ANTHROPIC_API_KEY, but never send it to a vendor of another protocol', () => {
    expect(defaultKey({ ANTHROPIC_API_KEY: 'a' })).toBe('a');
    expect(defaultKey({ ANTHROPIC_API_KEY: 'a', AI_DEFAULT_API_KEY: 'b' })).toBe('b');
    expect(defaultKey({ ANTHROPIC_API_KEY: 'a', AI_DEFAULT_PROTOCOL: 'openai' })).toBeUndefined();
  });

  it('read any vendor, and take empty settings for absent ones', () => {
    const { vendors } = readModelSettings({ ...other, AI_MY_VENDOR_BASE_URL: 'https://h/v1', AI_X_API_KEY: ' ' }, []);
    expect([...vendors.keys()]).toEqual(['OTHER', 'MY_VENDOR']);
    expect(vendors.get('OTHER')).toMatchObject({ protocol: 'openai', baseUrl: 'http://127.0.0.1:9/v1' });
    expect(vendors.get('MY_VENDOR')?.apiKey).toBeUndefined();
  });

  it('report every mistake at once, without repeating a secret', () => {
    const mistakes = mistakesOf({
      AI_DEFAULT_PROTOCOL: 'soap',
      AI_MAX_CONCURRENCY: '0',
      AI_MODELS: 'a,a,=b,c=',
      AI_X_API_KEY: 'sk-secret',
      AI_Y_BASE_URL: 'ftp://user:secret@h',
      AI_Z_BASE_URL: 'http://h/v1',
      AI_Z_PROTOCOL: 'soap',
      AI_BASIC_MODELS: 'a,nowhere',
    });
    expect(mistakes.map((mistake) => mistake.split(' ')[0])).toEqual([
      'AI_DEFAULT_PROTOCOL',
      'AI_MAX_CONCURRENCY',
      'AI_MODELS',
      'AI_MODELS',
      'AI_MODELS',
      'AI_X_BASE_URL',
      'AI_Y_BASE_URL',
      'AI_Z_PROTOCOL',
      'AI_BASIC_MODELS',
    ]);
    expect(mistakes.join()).not.toMatch(/secret/);
  });

  it('do not show keys', () => {
    const settings = readModelSettings({ ANTHROPIC_API_KEY: 'sk-one', ...other }, []);
    expect(JSON.stringify(settings) + inspect(settings, { depth: 9 })).not.toMatch(/sk-one|k2/);
  });
});

describe('the models on offer', () => {
  const env = {
    ANTHROPIC_API_KEY: 'k1',
    ...other,
    AI_DEFAULT_MODEL: 'plain',
    AI_MODELS: 'mapped=up:stream,short=other:big,other:aliased=real,lost:model,llama3:8b',
  };

  it.each([
    [undefined, 'plain', 'plain'],
    ['plain', 'plain', 'plain'],
    ['mapped', 'mapped', 'up:stream'],
    ['short', 'short', 'big'],
    ['other:aliased', 'other:aliased', 'real'],
    ['other:anything-at-all:7b', 'other:anything-at-all:7b', 'anything-at-all:7b'],
  ])('%s is %s, which the vendor knows as %s', (asked, name, upstream) => {
    expect(models(env).resolve(asked, 'basic')).toMatchObject({ name, upstream });
  });

  it.each(['nowhere', 'nobody:x', 'other:', ':x', '__proto__', ''])(
    'do not include %j, and the answer names those there are',
    (name) => {
      const resolve = () => models(env).resolve(name, 'enterprise');
      expect(resolve).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST', status: 400 }));
      expect(resolve).toThrow(
        /There are: plain, mapped, short, other:aliased, lost:model, llama3:8b, other:<model>\.$/,
      );
    },
  );

  it('are not looked up under a name of any length, nor is such a name repeated', () => {
    const { resolve } = models(env);
    expect(() => resolve('x'.repeat(5000), 'enterprise')).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^.{0,300}$/) }),
    );
  });

  it('are limited to the basic ones for the tier free alone', () => {
    const { resolve } = models({ ...env, AI_BASIC_MODELS: 'mapped' });
    expect(resolve('mapped', 'free').name).toBe('mapped');
    expect(resolve('short', 'basic').name).toBe('short');
    for (const name of ['short', 'other:x', undefined]) {
      expect(() => resolve(name, 'free')).toThrow(expect.objectContaining({ code: 'MODEL_NOT_ALLOWED', status: 403 }));
    }
    expect(models(env).resolve(undefined, 'free').name).toBe('plain');
  });

  it('cannot be called without a key, and the answer names the setting', () => {
    const code = { code: 'AI_NOT_CONFIGURED', status: 400 };
    const { resolve } = models({ AI_LOCAL_BASE_URL: 'http://127.0.0.1:9/v1' });
    expect(() => resolve(undefined, 'pro')).toThrow(expect.objectContaining(code));
    expect(() => resolve('other:large-235b-a22b', 'pro')).toThrow(/AI_OTHER_API_KEY/);
    expect(() => resolve('local:x', 'pro')).toThrow(/AI_LOCAL_API_KEY/);
    expect(() => resolve('other:unlisted', 'pro')).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
  });
});

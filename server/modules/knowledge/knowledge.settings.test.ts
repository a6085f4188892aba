import { describe, expect, it } from 'vitest';
import { readKnowledgeSettings } from './knowledge.settings.ts';

function read(env: Record<string, string>) {
  const mistakes: string[] = [];
  return { ...readKnowledgeSettings(env, mistakes).embeddings, mistakes };
}

const BASE_URL = 'https://vectors.example/v1';

describe('what embeds', () => {
  it.each([
    [{}, 'builtin'],
    [{ EMBEDDINGS: 'off', EMBEDDINGS_BASE_URL: BASE_URL }, 'off'],
    [{ EMBEDDINGS: 'builtin', EMBEDDINGS_LOCAL_PATH: '/models/m' }, 'builtin'],
    [{ EMBEDDINGS_BASE_URL: BASE_URL }, 'endpoint'],
    [{ EMBEDDINGS_LOCAL_PATH: '/models/m' }, 'local'],
    [{ EMBEDDINGS: 'local', EMBEDDINGS_LOCAL_PATH: '/models/m', EMBEDDINGS_BASE_URL: BASE_URL }, 'local'],
  ])('follows from %o: %s', (env, kind) => {
    expect(read({ ...env })).toMatchObject({ kind, mistakes: [] });
  });

  it('is the model that the endpoint is asked for, at its address', () => {
    const env = { EMBEDDINGS_BASE_URL: `${BASE_URL}/`, EMBEDDINGS_API_KEY: 'key', EMBEDDINGS_MODEL: 'm' };
    const settings = read(env);
    expect(settings).toMatchObject({ kind: 'endpoint', baseUrl: BASE_URL, model: 'm' });
    expect(JSON.stringify(settings)).not.toContain('"key"');
  });

  it.each([
    [{ EMBEDDINGS: 'yes' }, 'EMBEDDINGS must be one of auto, off, builtin, local, endpoint, but is "yes"'],
    [{ EMBEDDINGS: 'endpoint' }, 'EMBEDDINGS_BASE_URL must be set, because EMBEDDINGS is endpoint'],
    [{ EMBEDDINGS: 'local' }, 'EMBEDDINGS_LOCAL_PATH must be set, because EMBEDDINGS is local'],
    [{ EMBEDDINGS_API_KEY: 'key' }, 'EMBEDDINGS_BASE_URL must be set, because EMBEDDINGS_API_KEY is'],
    [{ EMBEDDINGS_MODEL: 'm' }, 'EMBEDDINGS_BASE_URL must be set, because EMBEDDINGS_MODEL is'],
    [{ EMBEDDINGS_BASE_URL: 'ftp://x' }, 'EMBEDDINGS_BASE_URL must be a URL that starts with http:// or https://'],
    [
      { EMBEDDINGS_BASE_URL: BASE_URL, EMBEDDINGS_LOCAL_PATH: '/m' },
      'EMBEDDINGS must be set, because both EMBEDDINGS_BASE_URL and EMBEDDINGS_LOCAL_PATH are',
    ],
    [
      { EMBEDDINGS_BASE_URL: BASE_URL, EMBEDDINGS_API_KEY: 'a b' },
      'EMBEDDINGS_API_KEY must consist of printable ASCII characters without spaces',
    ],
  ])('cannot follow from %o, and one line says why', (env, mistake) => {
    expect(read({ ...env }).mistakes).toEqual([mistake]);
  });
});

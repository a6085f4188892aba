import { expect } from 'vitest';
import { pick, pickText, type Answer, type TestApp } from './start-test-app.ts';

export interface KnowledgeCaller {
  app: TestApp;
  developer: { id: string; key: string };
}

/** Calls on knowledge bases of whoever calls at the time. */
export function knowledgeCalls(caller: () => KnowledgeCaller) {
  function send(on: TestApp, path: string, body: unknown): Promise<Answer> {
    return on.call('POST', `/v1/knowledge${path}`, { key: caller().developer.key, body });
  }
  function call(method: string, path: string, body?: unknown): Promise<Answer> {
    return caller().app.call(method, `/v1/knowledge${path}`, { key: caller().developer.key, body });
  }
  async function results(baseId: string, body: object, on = caller().app): Promise<unknown> {
    const answer = await send(on, `/${baseId}/query`, body);
    expect(answer).toMatchObject({ status: 200 });
    return pick(answer.body, 'results');
  }
  return {
    call,
    results,
    createBase: async (body: object = {}): Promise<string> =>
      pickText((await call('POST', '', { name: 'Handbook', ...body })).body, '_id'),
    upload: async (baseId: string, body: object, on = caller().app): Promise<string> => {
      const answer = await send(on, `/${baseId}/documents`, body);
      expect(answer).toMatchObject({ status: 201 });
      return pickText(answer.body, 'id');
    },
    /** Titles of the documents whose passages are found, best first. */
    sources: async (baseId: string, body: object, on?: TestApp): Promise<string[]> => {
      const found = await results(baseId, body, on);
      return Array.isArray(found) ? found.map((result) => pickText(result, 'source')) : [];
    },
  };
}

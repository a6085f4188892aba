import { expect } from 'vitest';
import { pick, pickText, type TestApp } from './start-test-app.ts';

export interface GraphCaller {
  app: TestApp;
  developer: { id: string; key: string };
}

/** Calls on the graph `crm` of whoever calls at the time. */
export function graphCalls(caller: () => GraphCaller) {
  function call(method: string, path: string, body?: unknown) {
    const { app, developer } = caller();
    return app.call(method, `/v1/graph${path}`, { key: developer.key, body });
  }
  return {
    call,
    node: (type: string, name: string, more: object = {}) => call('POST', '/crm/nodes', { type, name, ...more }),
    edge: ([from, relation, to]: [string, string, string], properties?: object) =>
      call('POST', '/crm/edges', { from, to, relation, properties }),
    sync: async (body: object): Promise<unknown> => {
      const answer = await call('POST', '/crm/sync', body);
      expect(answer).toMatchObject({ status: 200, body: { success: true } });
      return answer.body;
    },
    stats: async (): Promise<unknown> => (await call('GET', '/crm/stats')).body,
    traverse: async (body: object, on: TestApp = caller().app): Promise<unknown> => {
      const answer = await on.call('POST', '/v1/graph/crm/traverse', { key: caller().developer.key, body });
      expect(answer.status).toBe(200);
      return answer.body;
    },
    search: async (body: object, on: TestApp = caller().app): Promise<unknown> =>
      (await on.call('POST', '/v1/graph/crm/search', { key: caller().developer.key, body })).body,
  };
}

/** The external ids in a list of an answer. */
export function idsOf(body: unknown, list: string): string[] {
  const found = pick(body, list);
  return Array.isArray(found) ? found.map((item) => pickText(item, 'externalId')) : [];
}

export const OFFICES = {
  nodes: [
    { type: 'City', name: 'Berlin', properties: { country: 'Germany' } },
    { type: 'Building', name: 'Main office', externalId: 'hq' },
    { type: 'Person', name: 'Ada', properties: { skills: ['graphs'], address: { floor: 3 } } },
    { type: 'Person', name: 'Bob' },
  ],
  edges: [
    { from: 'hq', to: 'Berlin', relation: 'LOCATED_IN', properties: { since: 1999 } },
    { from: 'Ada', to: 'Main office', relation: 'WORKS_IN' },
    { from: 'Bob', to: 'Ada', relation: 'REPORTS_TO' },
  ],
};

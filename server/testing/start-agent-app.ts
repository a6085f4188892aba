import { RawAgent } from './raw-agent.ts';
import { queryRows } from './query-rows.ts';
import { startTestApp, type Answer, type TestApp } from './start-test-app.ts';

/** Services that share a database, a developer with the handler tool `work`, and agents that tests play themselves. */
export interface AgentApp {
  /** The services; most tests use the first alone. */
  apps: TestApp[];
  app: TestApp;
  /** Of the present test. */
  developer: () => { id: string; key: string };
  /** Begins a test: no agents, a developer of its own. */
  begin: () => Promise<void>;
  /** Connects an agent with these handlers, `work` by default, to the first service or another. */
  join: (handlers?: readonly string[], options?: { key?: string; to?: TestApp }) => Promise<RawAgent>;
  /** Calls the tool `work`. */
  callTool: (input?: object, options?: { signal?: AbortSignal; by?: TestApp }) => Promise<Answer>;
  /** Events of the present developer. */
  events: () => Promise<Record<string, unknown>[]>;
  stop: () => Promise<void>;
}

export async function startAgentApp(env: Record<string, string> = {}, services = 1): Promise<AgentApp> {
  const app = await startTestApp(env);
  const others = Array.from({ length: services - 1 }, () => startTestApp({ ...env, DATABASE_URL: app.databaseUrl }));
  const apps = [app, ...(await Promise.all(others))];
  const agents: RawAgent[] = [];
  let developer = { id: '', key: '' };
  return {
    apps,
    app,
    developer: () => developer,
    begin: async () => {
      for (const agent of agents.splice(0)) agent.cut();
      developer = await app.createDeveloper();
      const body = { name: 'work', description: 'Works.', execution: { type: 'handler' } };
      const { status } = await app.call('POST', '/v1/tools', { key: developer.key, body });
      if (status !== 201) throw new Error(`registering the tool gave ${status}`);
    },
    join: async (handlers = ['work'], { key = developer.key, to = app } = {}) => {
      const agent = await RawAgent.join(to.url, key, handlers);
      agents.push(agent);
      return agent;
    },
    callTool: (input = {}, { signal, by = app } = {}) => {
      const options = { key: developer.key, body: { tool: 'work', input }, ...(signal ? { signal } : {}) };
      return by.call('POST', '/v1/ai/tool-call', options);
    },
    events: () => {
      const sql = 'select type, data from outbox_events where developer_id = $1 order by seq';
      return queryRows(app.databaseUrl, sql, [developer.id]);
    },
    stop: async () => {
      for (const agent of agents) agent.cut();
      for (const one of apps.toReversed()) await one.stop();
    },
  };
}

import { once } from 'node:events';
import { createServer } from 'node:http';
import { Client } from 'pg';
import type { DestinationStream } from 'pino';
import type { Tier } from '../../contract/shared/tiers.ts';
import { startScriptedVendor, type ScriptedVendor, type VendorScript } from './scripted-vendor.ts';
import { startTestApp, type Answer, type TestApp } from './start-test-app.ts';

export const DEFAULT_MODEL = 'neutral-sonnet-4-20250514';

interface Developer {
  id: string;
  key: string;
  keyId: string;
}

/** The service with a model vendor that follows a script and a tool target, both on loopback. */
export interface ChatApp {
  app: TestApp;
  vendor: ScriptedVendor;
  /** Settings that give another service the same vendor. */
  vendorEnv: Record<string, string>;
  /** An HTTP service that answers with the path it was asked for; 503 below /fails. */
  targetUrl: string;
  /** What the vendor does next. */
  play: (script: VendorScript) => void;
  /** The developer of the present test. */
  developer: () => Developer;
  /** Begins a test: a developer of its own, an empty script, no requests so far. */
  begin: (tier?: Tier) => Promise<void>;
  chat: (body: Record<string, unknown>, key?: string) => Promise<Answer>;
  /** Rows of the present developer, whose id is $1. */
  rows: (sql: string) => Promise<Record<string, unknown>[]>;
  usageRows: () => Promise<Record<string, unknown>[]>;
  eventRows: () => Promise<Record<string, unknown>[]>;
  stop: () => Promise<void>;
}

async function startTarget(): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    if (request.url?.startsWith('/fails')) response.statusCode = 503;
    response.end(JSON.stringify({ path: request.url, celsius: 21 }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the target has no port');
  return { url: `http://127.0.0.1:${address.port}`, close: () => server.close() };
}

async function query(url: string, sql: string, values: unknown[]): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql, values)).rows;
  } finally {
    await client.end();
  }
}

const USAGE_SQL = `select model, outcome, input_tokens::int as input, output_tokens::int as output, steps
  from ai_usage where developer_id = $1 order by id`;
const EVENTS_SQL = 'select type, data from outbox_events where developer_id = $1 order by seq';

/** `env` holds further settings of the service; give `log` to read its log. */
export async function startChatApp(env: Record<string, string> = {}, log?: DestinationStream): Promise<ChatApp> {
  let script: VendorScript = [];
  const vendor = await startScriptedVendor({
    script: (request, index) => (typeof script === 'function' ? script(request, index) : (script.shift() ?? {})),
  });
  const target = await startTarget();
  const vendorEnv = { AI_DEFAULT_BASE_URL: vendor.baseUrl, AI_DEFAULT_API_KEY: 'vendor-key' };
  const app = await startTestApp(
    { ...vendorEnv, AI_OTHER_BASE_URL: vendor.baseUrl, AI_OTHER_API_KEY: 'other-key', ...env },
    log,
  );
  let developer: Developer = { id: '', key: '', keyId: '' };
  const rows: ChatApp['rows'] = (sql) => query(app.databaseUrl, sql, [developer.id]);
  return {
    app,
    vendor,
    vendorEnv,
    targetUrl: target.url,
    play: (next) => (script = next),
    developer: () => developer,
    begin: async (tier) => {
      developer = await app.createDeveloper(tier);
      vendor.requests.length = 0;
      script = [];
    },
    chat: (body, key = developer.key) => app.call('POST', '/v1/ai/chat', { key, body }),
    rows,
    usageRows: () => rows(USAGE_SQL),
    eventRows: () => rows(EVENTS_SQL),
    stop: async () => {
      await app.stop();
      await vendor.close();
      target.close();
    },
  };
}

/** Registers a tool that asks the target for the weather at `place`. */
export async function registerWeather({ app, developer, targetUrl }: ChatApp, path = '/weather'): Promise<void> {
  const body = {
    name: 'get_weather',
    description: 'Weather at a place.',
    input_schema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
    execution: { type: 'http', method: 'GET', url: targetUrl + path },
  };
  const { status } = await app.call('POST', '/v1/tools', { key: developer().key, body });
  if (status !== 201) throw new Error(`registering the tool gave ${status}`);
}

/** A turn of the vendor that calls that tool. */
export const CALL_WEATHER = {
  toolCalls: [{ name: 'get_weather', input: { place: 'Hamburg' } }],
  usage: { inputTokens: 50, outputTokens: 7 },
};

import { request as sendRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { startScriptedVendor, type ScriptedVendor } from './scripted-vendor.ts';
import type { VendorTurn } from './scripted-vendor-turn.ts';
import { startProcess, type ProcessOptions, type ServiceProcess } from './start-process.ts';
import { ADMIN_KEY } from './start-test-app.ts';

interface Reply {
  status: number | undefined;
  headers: IncomingMessage['headers'];
  text: string;
}

/** A vendor that holds its answers back, and chats that wait for it. */
export interface HeldChats {
  vendor: ScriptedVendor;
  /** Settings of a service that uses the vendor. */
  env: Record<string, string>;
  /** Lets the vendor answer. */
  release: (turn: VendorTurn) => void;
  /** A chat over a connection that would like to stay open. */
  chat: (url: string, path?: string) => Promise<Reply>;
  /** A service with a chat under way at the vendor. */
  startWithChat: (options?: ProcessOptions) => Promise<{ service: ServiceProcess; reply: Promise<Reply> }>;
}

async function chat(url: string, path = '/v1/ai/chat'): Promise<Reply> {
  const request = sendRequest(url + path, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json', connection: 'keep-alive' },
  });
  request.end(JSON.stringify({ message: 'Hello' }));
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.once('response', resolve).once('error', reject);
  const response = await promise;
  let text = '';
  for await (const part of response) text += String(part);
  return { status: response.statusCode, headers: response.headers, text };
}

/** Whether the client of a chat got its answer. */
export function outcomeOf(reply: Promise<unknown>): Promise<'answered' | 'cut'> {
  return reply.then(
    () => 'answered',
    () => 'cut',
  );
}

/** Whether nobody accepts connections there. */
export async function isRefused(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
  return promise.finally(() => socket.destroy());
}

export async function holdChats(): Promise<HeldChats> {
  const { promise: held, resolve: release } = Promise.withResolvers<VendorTurn>();
  const vendor = await startScriptedVendor({ script: () => held });
  const env = { AI_DEFAULT_BASE_URL: vendor.baseUrl, AI_DEFAULT_API_KEY: 'vendor-key', BOOTSTRAP_API_KEY: ADMIN_KEY };
  return {
    vendor,
    env,
    release,
    chat,
    startWithChat: async (options) => {
      const service = await startProcess({ ...options, env: { ...env, ...options?.env } });
      const reply = chat(service.url);
      await vendor.waitForRequests(1);
      return { service, reply };
    },
  };
}

/** What the database holds of all requests. */
export const COUNTS = `select (select count(*)::int from call_log) as logged,
  (select coalesce(sum(requests), 0)::int from usage_counters) as counted,
  (select coalesce(string_agg(outcome, ','), '') from ai_usage) as outcomes`;

import { pino, type DestinationStream } from 'pino';
import { readAllSettings } from '../app/settings.ts';
import { startService, type Service } from '../app/start-service.ts';
import type { Permission, Tier } from '../../contract/shared/tiers.ts';
import { createTestDatabase } from './test-database.ts';

/** The key of the first developer in every test app. */
export const ADMIN_KEY = 'test-bootstrap-key-0123456789abcdefghij';

/** Seals what every test app stores, so that apps can share a database. */
const MASTER_KEY = Buffer.alloc(32, 'test').toString('base64');

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed JSON; text where it is not JSON. */
  body: unknown;
}

export interface CallOptions {
  key?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface TestApp {
  url: string;
  databaseUrl: string;
  service: Service;
  /** Calls the API over HTTP; with the admin key unless another, or none, is asked for. */
  call: (method: string, path: string, options?: CallOptions) => Promise<Answer>;
  /** A developer of its own with a key that holds everything. */
  createDeveloper: (tier?: Tier) => Promise<{ id: string; key: string; keyId: string }>;
  /** A further key of the developer whose admin key is given. */
  createKey: (adminKey: string, permissions: Permission[]) => Promise<{ id: string; key: string }>;
  stop: () => Promise<void>;
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function rawBody(body: unknown): string | Uint8Array<ArrayBuffer> | undefined {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return asBodyInit(body);
  return JSON.stringify(body);
}

/** Safe because test bytes never live in shared memory, which is all that the narrower type excludes. */
function asBodyInit(body: string | Uint8Array | undefined): string | Uint8Array<ArrayBuffer> | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return body as string | Uint8Array<ArrayBuffer> | undefined;
}

/** Calls an API by its base address, as any client would. */
export async function callApi(url: string, call: { method: string; path: string } & CallOptions): Promise<Answer> {
  const { method, path, key, headers, body, signal } = call;
  const raw = rawBody(body);
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(key === undefined ? {} : { 'x-api-key': key }),
      ...(raw === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(raw === undefined ? {} : { body: raw }),
    ...(signal === undefined ? {} : { signal }),
  });
  return { status: response.status, headers: response.headers, body: parseBody(await response.text()) };
}

/** A property of a parsed answer, by path; fails loudly where it is absent. */
export function pick(body: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null || !(key in value)) {
      throw new Error(`no ${path.join('.')} in ${JSON.stringify(body)}`);
    }
    return Object.entries(value).find(([name]) => name === String(key))?.[1];
  }, body);
}

/** A text property of a parsed answer. */
export function pickText(body: unknown, ...path: (string | number)[]): string {
  const value = pick(body, ...path);
  if (typeof value !== 'string') throw new Error(`${path.join('.')} is not text in ${JSON.stringify(body)}`);
  return value;
}

/**
 * Starts the whole service in this process on a database of its own, listening on a free port. `env` holds further
 * settings; give `DATABASE_URL` to share a database between two apps, and `log` to read the log.
 */
export async function startTestApp(env: Record<string, string> = {}, log?: DestinationStream): Promise<TestApp> {
  const database = env['DATABASE_URL'] === undefined ? await createTestDatabase() : undefined;
  const databaseUrl = env['DATABASE_URL'] ?? database?.url ?? '';
  const defaults = {
    PORT: '0',
    BOOTSTRAP_API_KEY: ADMIN_KEY,
    ENCRYPTION_KEY: MASTER_KEY,
    ANONYMOUS_PER_MINUTE: '100000',
    LOG_LEVEL: 'silent',
  };
  const settings = readAllSettings({ ...defaults, ...env, DATABASE_URL: databaseUrl });
  const service = await startService(
    settings,
    log ? pino({ level: env['LOG_LEVEL'] ?? 'info' }, log) : pino({ level: 'silent' }),
  );
  const call: TestApp['call'] = (method, path, options = {}) =>
    callApi(service.url, { key: ADMIN_KEY, ...options, method, path });
  return {
    url: service.url,
    databaseUrl,
    service,
    call,
    createDeveloper: async (tier = 'enterprise') => {
      const { body } = await call('POST', '/v1/admin/developers', { body: { name: 'Test developer', tier } });
      return { id: pickText(body, 'id'), key: pickText(body, 'apiKey', 'key'), keyId: pickText(body, 'apiKey', 'id') };
    },
    createKey: async (adminKey, permissions) => {
      const { body } = await call('POST', '/v1/auth/api-keys', { key: adminKey, body: { permissions } });
      return { id: pickText(body, 'id'), key: pickText(body, 'key') };
    },
    stop: async () => {
      await service.stop();
      await database?.drop();
    },
  };
}

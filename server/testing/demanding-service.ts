import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** A service on loopback that demands a credential. */
export interface DemandingService {
  /** `http://127.0.0.1:<port>/api` */
  baseUrl: string;
  /** Headers and path of everything asked so far. */
  requests: { path: string; headers: Record<string, string>; body: string }[];
  close: () => void;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]));
}

const ANSWERS: Record<string, unknown> = {
  '/api/orders': [
    { day: '2026-01-30', orders: 12, returns: 1 },
    { day: '2026-01-31', orders: 17, returns: 0 },
  ],
  '/api/count': { value: 29, unit: 'orders' },
};

/** Answers that repeat the credential where nobody expects it: in a refusal, in what is no JSON, before breaking off. */
const INDISCREET: Record<string, (response: ServerResponse, said: string) => void> = {
  '/api/denied': (response, said) => response.writeHead(403).end(`${said} may not do that`),
  '/api/lies': (response, said) => response.end(`{${said}`),
  '/api/breaks': (response, said) => {
    response.writeHead(200, { 'content-length': '1000' }).write(said, () => response.destroy());
  },
};

/** Starts it; whatever comes without one of the credentials, as a Bearer token, is 401. */
export async function startDemandingService(tokens: readonly string[]): Promise<DemandingService> {
  const requests: DemandingService['requests'] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request);
    const headers = headersOf(request);
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    requests.push({ path, headers, body });
    response.setHeader('content-type', 'application/json');
    const isKnown = tokens.some((token) => headers['authorization'] === `Bearer ${token}`);
    if (!isKnown) response.writeHead(401).end('{"error":"who are you?"}');
    else if (INDISCREET[path]) INDISCREET[path](response, String(headers['authorization']));
    else if (path !== '/api/hangs')
      response.end(JSON.stringify(ANSWERS[path] ?? { path, said: headers['authorization'] }));
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the service has no port');
  return {
    baseUrl: `http://127.0.0.1:${address.port}/api`,
    requests,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

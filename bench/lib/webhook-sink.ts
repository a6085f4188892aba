// Receivers of webhooks on loopback, one on each of PORTS, as fast as node:http goes. The first port also answers GET:
// /count says how many messages have come, /arrivals gives them and forgets them, /hang?port=N lets that receiver
// never answer again, and /release cuts what hangs and lets all answer.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

const ports = (process.env['PORTS'] ?? '').split(',').map(Number);
const hanging = new Set<number>();
const held = new Set<ServerResponse>();
let count = 0;
let arrivals: [receiver: number, n: number, atMs: number][] = [];

function take(request: IncomingMessage, response: ServerResponse, receiver: number): void {
  const atMs = performance.timeOrigin + performance.now();
  let body = '';
  request.setEncoding('latin1');
  request.on('data', (part: string) => (body += part));
  request.on('end', () => {
    count++;
    arrivals.push([receiver, Number(/"n":(\d+)/.exec(body)?.[1]), atMs]);
    if (hanging.has(receiver)) held.add(response);
    else response.writeHead(200, { 'content-length': 0 }).end();
  });
}

function release(): void {
  hanging.clear();
  for (const response of held) response.destroy();
  held.clear();
}

function control(url: URL): unknown {
  if (url.pathname === '/hang') hanging.add(ports.indexOf(Number(url.searchParams.get('port'))));
  if (url.pathname === '/release') release();
  if (url.pathname !== '/arrivals') return count;
  const taken = arrivals;
  arrivals = [];
  return taken;
}

for (const [receiver, port] of ports.entries()) {
  createServer((request, response) => {
    if (request.method === 'POST') take(request, response, receiver);
    else response.end(JSON.stringify(control(new URL(request.url ?? '/', 'http://sink'))));
  }).listen(port, '127.0.0.1');
}

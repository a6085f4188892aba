// The floor: node:http passing requests on to UPSTREAM_PORT and answers back, and nothing else.
import { Agent, createServer, request as send } from 'node:http';

const PORT = Number(process.env['PORT']);
const UPSTREAM_PORT = Number(process.env['UPSTREAM_PORT']);
const agent = new Agent({ keepAlive: true, maxSockets: 1024 });

createServer((request, response) => {
  const { method, url, headers } = request;
  const upstream = send({ host: '127.0.0.1', port: UPSTREAM_PORT, method, path: url, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  upstream.on('error', () => response.destroy());
  request.pipe(upstream);
}).listen(PORT, '127.0.0.1');

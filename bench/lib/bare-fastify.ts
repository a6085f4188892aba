// Fastify answering fixed bytes on every path: ANSWER, as JSON.
import { fastify } from 'fastify';

const answer = process.env['ANSWER'] ?? '{}';
const app = fastify();
app.get('/*', (_request, reply) => {
  void reply.type('application/json; charset=utf-8').send(answer);
});
await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) });

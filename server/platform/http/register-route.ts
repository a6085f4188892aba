import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LIMITS } from '../../../contract/shared/limits.ts';
import type { RouteContract, RouteInput } from '../../../contract/shared/route.ts';
import { AppError } from '../errors/index.ts';
import { sendEvents } from './event-stream.ts';
import { IncomingBody } from './incoming-body.ts';
import { demandPermission } from './pipeline.ts';
import { HttpRequestContext } from './request-context.ts';
import type { Route } from './route.ts';

function schemaOf({ contract, answer }: Route) {
  const { params, query, body, response, status, streams } = contract;
  return {
    ...(params ? { params } : {}),
    ...(query ? { querystring: query } : {}),
    ...(body && answer.kind !== 'bytes' ? { body } : {}),
    ...(streams ? {} : { response: { [status]: response } }),
  };
}

function inputOf(request: FastifyRequest): RouteInput<RouteContract> {
  return { params: request.params, query: request.query, body: request.body };
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** Some refusals of some endpoints carry a message alone; everything else goes to the error rim. */
function failBare(contract: RouteContract, reply: FastifyReply, thrown: unknown): FastifyReply {
  if (!(thrown instanceof AppError) || !contract.errorsWithoutCode?.includes(thrown.code)) throw thrown;
  const body = JSON.stringify({ error: { message: thrown.message } });
  return reply.code(thrown.status).type(JSON_TYPE).send(body);
}

async function answerStream(
  run: Extract<Route['answer'], { kind: 'stream' }>['run'],
  exchange: { ctx: HttpRequestContext; request: FastifyRequest; reply: FastifyReply },
): Promise<FastifyReply> {
  const { ctx, request, reply } = exchange;
  await sendEvents(reply, await run(ctx, inputOf(request)));
  return reply;
}

/** Texts of answers that cannot change: a handler that gives the same frozen object again has it serialised once. */
const texts = new WeakMap<object, string>();

function textOf(reply: FastifyReply, output: object): string {
  const known = texts.get(output);
  if (known !== undefined) return known;
  const text: unknown = reply.serialize({ ...output });
  if (typeof text !== 'string') throw new TypeError('an answer was not serialised to text');
  texts.set(output, text);
  return text;
}

function sendNow(reply: FastifyReply, output: unknown): void {
  if (typeof output !== 'object' || output === null || !Object.isFrozen(output)) {
    reply.send(output);
    return;
  }
  reply.type(JSON_TYPE).send(textOf(reply, output));
}

/** The answer of a handler; what is too large for it ends the connection, of which nothing more is read. */
async function answerBytes(
  run: Extract<Route['answer'], { kind: 'bytes' }>['run'],
  exchange: { ctx: HttpRequestContext; contract: RouteContract; request: FastifyRequest; reply: FastifyReply },
): Promise<unknown> {
  const { ctx, contract, request, reply } = exchange;
  const body = new IncomingBody(request.raw, contract.bodyBytes ?? LIMITS.bodyBytes);
  try {
    return await run(ctx, { params: request.params, body });
  } catch (error) {
    if (error instanceof AppError && error.code === 'PAYLOAD_TOO_LARGE') reply.header('connection', 'close');
    throw error;
  }
}

/** Answers at once where the handler does: a read that is served from memory waits for no promise. */
function answerRequest(route: Route, request: FastifyRequest, reply: FastifyReply): Promise<unknown> | undefined {
  const { contract } = route;
  const ctx = new HttpRequestContext(request.id, demandPermission(request, contract.permission), reply.raw);
  const { underWay } = request.server;
  if (route.answer.kind === 'stream') {
    const stream = answerStream(route.answer.run, { ctx, request, reply });
    underWay.addHandler(stream);
    return stream;
  }
  reply.code(contract.status);
  if (route.answer.kind === 'written') reply.type(JSON_TYPE);
  const output =
    route.answer.kind === 'bytes'
      ? answerBytes(route.answer.run, { ctx, contract, request, reply })
      : route.answer.run(ctx, inputOf(request));
  if (output instanceof Promise) {
    underWay.addHandler(output);
    return output.catch((error: unknown) => failBare(contract, reply, error));
  }
  sendNow(reply, output);
  return undefined;
}

/** Puts a route on the server: permission before the body is read, validation by its schemas, then the handler. */
export function registerRoute(app: FastifyInstance, route: Route): void {
  const { contract } = route;
  app.route({
    method: contract.method,
    url: contract.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    schema: schemaOf(route),
    ...(contract.bodyBytes === undefined ? {} : { bodyLimit: contract.bodyBytes }),
    onRequest: (request, _reply, done) => {
      request.call.route = contract.path;
      demandPermission(request, contract.permission);
      done();
    },
    handler: (request, reply) => answerRequest(route, request, reply),
  });
}

/** Puts routes on the server whose handlers take in the body themselves: nothing reads it before. */
export function registerBytesRoutes(app: FastifyInstance, routes: readonly Route[]): void {
  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/json', (_request, _payload, parsed) => parsed(null));
    for (const route of routes) registerRoute(scope, route);
    done();
  });
}

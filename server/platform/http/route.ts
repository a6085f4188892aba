import type { RouteContract, RouteInput, RouteOutput } from '../../../contract/shared/route.ts';
import type { IncomingBody } from './incoming-body.ts';
import type { RequestContext } from './request-context.ts';

/** A contract with the function that fulfils it. */
export interface Route {
  contract: RouteContract;
  answer:
    | { kind: 'json'; run: (ctx: RequestContext, input: RouteInput<RouteContract>) => unknown }
    | { kind: 'written'; run: (ctx: RequestContext, input: RouteInput<RouteContract>) => Promise<Buffer> }
    | { kind: 'bytes'; run: (ctx: RequestContext, input: { params: unknown; body: IncomingBody }) => Promise<unknown> }
    | {
        kind: 'stream';
        run: (ctx: RequestContext, input: RouteInput<RouteContract>) => Promise<AsyncIterable<unknown>>;
      };
}

type MaybePromise<T> = T | Promise<T>;

/** Binds a handler to its contract. The input is validated and typed by the contract's schemas. */
export function implement<C extends RouteContract>(
  contract: C,
  handler: (ctx: RequestContext, input: RouteInput<C>) => MaybePromise<RouteOutput<C>>,
): Route {
  return { contract, answer: { kind: 'json', run: (ctx, input) => handler(ctx, asInputOf<C>(input)) } };
}

/** Binds a handler that writes the JSON of its answer itself, as its contract says: for large answers made of texts. */
export function implementWritten<C extends RouteContract>(
  contract: C,
  handler: (ctx: RequestContext, input: RouteInput<C>) => Promise<Buffer>,
): Route {
  return { contract, answer: { kind: 'written', run: (ctx, input) => handler(ctx, asInputOf<C>(input)) } };
}

/** Binds a handler that takes in the bytes of the body, and has to parse and to validate them itself. */
export function implementBytes<C extends RouteContract>(
  contract: C,
  handler: (
    ctx: RequestContext,
    input: { params: RouteInput<C>['params']; body: IncomingBody },
  ) => Promise<RouteOutput<C>>,
): Route {
  const run = (ctx: RequestContext, { params, body }: { params: unknown; body: IncomingBody }) =>
    handler(ctx, { params: asInputOf<C>({ params, query: undefined, body: undefined }).params, body });
  return { contract, answer: { kind: 'bytes', run } };
}

/**
 * Binds a handler whose answer is an event stream. What goes wrong before the handler returns its events is
 * answered as an ordinary error; what goes wrong later has to be an event itself.
 */
export function implementStream<C extends RouteContract>(
  contract: C,
  handler: (ctx: RequestContext, input: RouteInput<C>) => Promise<AsyncIterable<RouteOutput<C>>>,
): Route {
  return { contract, answer: { kind: 'stream', run: (ctx, input) => handler(ctx, asInputOf<C>(input)) } };
}

/** Safe because the pipeline validates params, query and body against this contract before it calls a handler. */
function asInputOf<C extends RouteContract>(input: RouteInput<RouteContract>): RouteInput<C> {
  return input;
}

import type { Static, TSchema } from 'typebox';
import type { ErrorCode } from './errors.ts';
import type { Permission } from './tiers.ts';

type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One endpoint: everything that the server, the OpenAPI document and the client need to know of it. */
export interface RouteContract {
  /** Name in camel case; the operationId of the OpenAPI document. */
  id: string;
  method: HttpMethod;
  /** Path with `{name}` placeholders. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  /** What the key must hold. */
  permission: Permission;
  /** Status of success. */
  status: 200 | 201;
  params?: TSchema;
  query?: TSchema;
  body?: TSchema;
  /** Bytes that the body may have, where it is not LIMITS.bodyBytes. */
  bodyBytes?: number;
  response: TSchema;
  /** Shape of one `data:` event; the answer is then text/event-stream. */
  streams?: boolean;
  /** Refusals beyond those that every endpoint shares (401, 403, 413, 415, 429, 500). */
  errors: readonly ErrorCode[];
  /** Refusals whose body carries a message alone. */
  errorsWithoutCode?: readonly ErrorCode[];
}

type Of<S> = S extends TSchema ? Static<S> : undefined;

/** What a handler of the route is given, after validation. */
export interface RouteInput<C extends RouteContract> {
  params: Of<C['params']>;
  query: Of<C['query']>;
  body: Of<C['body']>;
}

/** What a handler of the route returns. */
export type RouteOutput<C extends RouteContract> = Static<C['response']>;

/** Declares an endpoint; keeps the exact types of its schemas. */
export function defineRoute<const C extends RouteContract>(contract: C): C {
  return contract;
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors/index.ts';
import type { Permission } from '../../../contract/shared/tiers.ts';
import type { Caller } from './request-context.ts';

/** What is left of a limit after a request was counted, or was refused. */
export interface Allowance {
  isAllowed: boolean;
  /** Requests per minute. */
  limit: number;
  remaining: number;
  /** Unix seconds. */
  resetAtSeconds: number;
  /** Only on refusal: what to wait, and which limit it was. */
  retryAfterSeconds?: number;
  refusal?: string;
}

/** The decisions of the pipeline that belong to a module. Answers at once where it can: most requests never wait. */
export interface Gatekeeper {
  identify: (presentedKey: string) => Caller | undefined | Promise<Caller | undefined>;
  spend: (caller: Caller) => Allowance | Promise<Allowance>;
  /** Counts a request without a valid key against its address; `cost` 0 only looks. */
  spendAnonymous: (address: string, cost: 0 | 1) => Allowance;
}

/** One finished, authenticated request. */
export interface CallRecord {
  caller: Caller;
  /** False for a request that a limit refused: it is logged, but uses nothing up. */
  isCounted: boolean;
  requestId: string;
  method: string;
  /** Path without the query. */
  path: string;
  status: number;
  /** When the request arrived, Unix milliseconds. */
  startedAtMs: number;
  durationMs: number;
}

/** What the pipeline keeps with a request. */
export interface CallState {
  startedAtMs: number;
  startedAt: number;
  /** Path template that the request matched. */
  route: string;
  caller: Caller | undefined;
  isCounted: boolean;
}

/** The key that a request presents; `X-API-Key` wins over `Authorization: Bearer`. */
export function presentedKey(request: FastifyRequest): string | undefined {
  const header = request.headers['x-api-key'];
  if (typeof header === 'string' && header !== '') return header;
  const authorization = request.headers.authorization;
  return authorization !== undefined && /^bearer /i.test(authorization) ? authorization.slice(7).trim() : undefined;
}

export function setLimitHeaders(reply: FastifyReply, allowance: Allowance): void {
  reply.header('x-ratelimit-limit', allowance.limit);
  reply.header('x-ratelimit-remaining', allowance.remaining);
  reply.header('x-ratelimit-reset', allowance.resetAtSeconds);
}

function refuseOver(allowance: Allowance): void {
  if (allowance.isAllowed) return;
  const wait = allowance.retryAfterSeconds ?? 1;
  const message = `${allowance.refusal ?? 'Too many requests.'} Try again in ${wait} s.`;
  throw new AppError('RATE_LIMITED', message, { retryAfterSeconds: wait });
}

function unauthorized(gate: Gatekeeper, request: FastifyRequest, reply: FastifyReply): never {
  const allowance = gate.spendAnonymous(request.ip, 1);
  setLimitHeaders(reply, allowance);
  refuseOver(allowance);
  throw new AppError(
    'UNAUTHORIZED',
    presentedKey(request) === undefined
      ? 'An API key is required: send it as X-API-Key, or as Authorization: Bearer.'
      : 'The API key is unknown or revoked.',
  );
}

/** Identify, then spend. Synchronous for a warm key without Redis; a promise otherwise. */
export function admit(gate: Gatekeeper, request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
  const key = presentedKey(request);
  const found = key === undefined ? undefined : gate.identify(key);
  if (found instanceof Promise) return found.then((caller) => admitCaller(caller, { gate, request, reply }));
  return admitCaller(found, { gate, request, reply });
}

interface Exchange {
  gate: Gatekeeper;
  request: FastifyRequest;
  reply: FastifyReply;
}

function admitCaller(caller: Caller | undefined, { gate, request, reply }: Exchange): void | Promise<void> {
  if (!caller) return unauthorized(gate, request, reply);
  request.call.caller = caller;
  const allowance = gate.spend(caller);
  if (allowance instanceof Promise) return allowance.then((settled) => applyAllowance(request, reply, settled));
  return applyAllowance(request, reply, allowance);
}

function applyAllowance(request: FastifyRequest, reply: FastifyReply, allowance: Allowance): void {
  request.call.isCounted = allowance.isAllowed;
  setLimitHeaders(reply, allowance);
  refuseOver(allowance);
}

/** The caller of a request that was admitted, if the key holds the permission. */
export function demandPermission(request: FastifyRequest, permission: Permission): Caller {
  const caller = request.call.caller;
  if (!caller) throw new AppError('UNAUTHORIZED', 'An API key is required.');
  if (!caller.permissions.includes(permission)) {
    throw new AppError('FORBIDDEN', `This operation needs ${permission} permission, which the API key does not hold.`);
  }
  return caller;
}

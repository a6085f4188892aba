import type { Duplex } from 'node:stream';
import { AppError } from '../errors/index.ts';
import { errorBody } from './error-rim.ts';
import type { Gatekeeper } from './pipeline.ts';

interface Refusal {
  line: string;
  error: AppError;
}

/** By Node's reason for giving up on bytes before they are a request. */
const REFUSALS: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: {
    line: '431 Request Header Fields Too Large',
    error: new AppError('INVALID_REQUEST', 'The path and the headers are larger than 16 kB together.'),
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    line: '408 Request Timeout',
    error: new AppError('INVALID_REQUEST', 'The request took too long to arrive.'),
  },
};

const NOT_HTTP: Refusal = {
  line: '400 Bad Request',
  error: new AppError('INVALID_REQUEST', 'The request is not valid HTTP.'),
};

/** Answers, in our form, what never became a request. It counts against the address like one without a key. */
export function refuseBroken(failure: { code?: string }, socket: Duplex, gate: Gatekeeper): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { line, error } = REFUSALS[failure.code ?? ''] ?? NOT_HTTP;
  const address = 'remoteAddress' in socket ? String(socket.remoteAddress) : '';
  const { limit, remaining, resetAtSeconds } = gate.spendAnonymous(address, 1);
  const body = JSON.stringify(errorBody(error));
  const head = [
    `HTTP/1.1 ${line}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-ratelimit-limit: ${limit}`,
    `x-ratelimit-remaining: ${remaining}`,
    `x-ratelimit-reset: ${resetAtSeconds}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

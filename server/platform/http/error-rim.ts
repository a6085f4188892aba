import type { Logger } from 'pino';
import { AppError } from '../errors/index.ts';

/** Fastify's own refusals, as ours. Its codes are stable parts of its interface. */
const FASTIFY_REFUSALS: Record<string, () => AppError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () => new AppError('PAYLOAD_TOO_LARGE', 'The body is larger than this endpoint accepts.'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the body with Content-Type: application/json.'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => new AppError('INVALID_REQUEST', 'Content-Length does not match the body.'),
  FST_ERR_BAD_URL: () => new AppError('NOT_FOUND', 'The path is not validly percent-encoded.'),
  FST_ERR_MAX_PARAM_LENGTH: () => new AppError('NOT_FOUND', 'The path holds a name that is too long to exist.'),
};

function codeOf(thrown: unknown): string | undefined {
  const isCoded = typeof thrown === 'object' && thrown !== null && 'code' in thrown && typeof thrown.code === 'string';
  return isCoded ? String(thrown.code) : undefined;
}

/** What a caller is told of anything that was thrown. Faults of ours say nothing of the inside. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  const known = FASTIFY_REFUSALS[codeOf(thrown) ?? ''];
  if (known) return known();
  return new AppError('INTERNAL_ERROR', 'The service failed to answer. The X-Request-Id header names this request.', {
    cause: thrown,
  });
}

/** Body of a refusal. Spec: `{error: {code, message}}`. */
export function errorBody(error: AppError): { error: { code: string; message: string } } {
  return { error: { code: error.code, message: error.message } };
}

/** Logs what an operator has to see: our own faults and failures underneath, once, here. */
export function logFailure(log: Logger, error: AppError, requestId: string): void {
  if (error.status < 500) return;
  const isFault = error.code === 'INTERNAL_ERROR';
  log[isFault ? 'error' : 'warn']({ requestId, code: error.code, err: error.cause ?? error }, error.message);
}

/** A refusal of the service, or an answer that is not one of its own. */
export class TesseraError extends Error {
  readonly status: number;
  /** A code of the contract; undefined for the few refusals that carry a message alone. */
  readonly code: string | undefined;
  /** Finds the request in the service's log. */
  readonly requestId: string | undefined;

  constructor(message: string, facts: { status: number; code?: string; requestId?: string }) {
    super(message);
    this.name = 'TesseraError';
    this.status = facts.status;
    this.code = facts.code;
    this.requestId = facts.requestId;
  }
}

interface ErrorBody {
  error: { code?: string; message: string };
}

function isErrorBody(value: unknown): value is ErrorBody {
  if (typeof value !== 'object' || value === null || !('error' in value)) return false;
  const { error } = value;
  return typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string';
}

/** The error that a refused response stands for. */
export async function errorOf(response: Response): Promise<TesseraError> {
  const { status } = response;
  const requestId = response.headers.get('x-request-id');
  const facts = { status, ...(requestId === null ? {} : { requestId }) };
  const body: unknown = await response.json().catch(() => undefined);
  if (!isErrorBody(body)) return new TesseraError(`The service answered with HTTP ${status}.`, facts);
  const { code, message } = body.error;
  return new TesseraError(message, code === undefined ? facts : { ...facts, code });
}

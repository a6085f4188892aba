import { ERROR_CODES, type ErrorCode } from '../../../contract/shared/errors.ts';

export interface AppErrorOptions {
  /** What went wrong underneath; logged for operators, never shown to callers. */
  cause?: unknown;
  /** Seconds after which trying again makes sense; sent as `Retry-After`. */
  retryAfterSeconds?: number;
}

/** An expected refusal or failure: a code of the contract and a sentence that the caller may read. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, publicMessage: string, options: AppErrorOptions = {}) {
    super(publicMessage, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** HTTP status that the code stands for. */
  get status(): number {
    return ERROR_CODES[this.code].status;
  }
}

import { AppError } from '../errors/index.ts';

/** The connection failed or PostgreSQL is not serving: https://www.postgresql.org/docs/18/errcodes-appendix.html */
const AWAY_STATES = new Set(['57P01', '57P02', '57P03', '57P05', '53300', '25006']);
const AWAY_SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** The driver gives these no code. */
const AWAY_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying|timeout expired|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|Called end on pool|Query read timeout|sorry, too many clients)/;

/** Working, but not for this statement now: cancelled, deadlocked, timed out or short of memory or disk. */
const BUSY_STATES = new Set(['57014', '40001', '40P01', '55P03', '25P03', '53000', '53100', '53200', '53400']);

/** Values that no column can hold: U+0000, lone surrogates, malformed or oversized input. */
const UNSTORABLE = new Map([
  ['22021', 'A text holds a character that cannot be stored, such as U+0000.'],
  ['22P05', 'A text holds a character that cannot be stored, such as U+0000.'],
  ['22P02', 'A value has a form that cannot be stored.'],
  ['22003', 'A number is out of the range that can be stored.'],
  ['22008', 'A date is out of the range that can be stored.'],
  ['54000', 'A value is too long to be stored.'],
]);

function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

function isAwayCause(error: unknown): boolean {
  const code = codeOf(error);
  if (code.startsWith('08') || AWAY_STATES.has(code) || AWAY_SYSTEM_CODES.has(code)) return true;
  if (error instanceof AggregateError) return error.errors.some(isAwayCause);
  return error instanceof Error && AWAY_MESSAGES.test(error.message);
}

/** After a migration by a newer replica, a prepared statement may not fit any more; a new connection heals it. */
function isOutdatedPlan(error: unknown): boolean {
  return codeOf(error) === '0A000' && error instanceof Error && error.message.includes('cached plan');
}

/** Whether the connection that gave this error must not be used again. */
export function breaksConnection(error: unknown): boolean {
  return isAwayCause(error) || isOutdatedPlan(error);
}

/** Whether a failure means that the database could not be reached, so that the same work may succeed later. */
export function isDatabaseAway(error: unknown): boolean {
  return isAwayCause(error) || (error instanceof AppError && error.code === 'UNAVAILABLE' && isAwayCause(error.cause));
}

/** Whether a statement failed because a row with the same unique value exists; of that constraint, when one is named. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (codeOf(error) !== '23505' || !(error instanceof Error)) return false;
  return constraint === undefined || ('constraint' in error && error.constraint === constraint);
}

/** Gives what callers may be told: UNAVAILABLE, or INVALID_REQUEST for a value no column can hold; else the error itself. */
export function translateError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (breaksConnection(error)) {
    return new AppError('UNAVAILABLE', 'The database cannot be reached at the moment.', {
      cause: error,
      retryAfterSeconds: 1,
    });
  }
  const code = codeOf(error);
  if (BUSY_STATES.has(code)) {
    return new AppError('UNAVAILABLE', 'The database could not finish this in time.', {
      cause: error,
      retryAfterSeconds: 1,
    });
  }
  const unstorable = UNSTORABLE.get(code);
  return unstorable === undefined ? error : new AppError('INVALID_REQUEST', unstorable, { cause: error });
}

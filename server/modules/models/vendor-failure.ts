import { AppError, errorMessage } from '../../platform/errors/index.ts';
import { asObject, asText, parseJson } from './vendor-json.ts';

/** The call that failed. */
export interface FailedCall {
  /** The vendor's name of the model. */
  upstream: string;
  apiKey: string;
  /** Milliseconds; for the sentence that says what was waited for. */
  timeoutMs: number;
  idleTimeoutMs: number;
}

const MAX_MESSAGE_LENGTH = 300;

/** Keys as vendors write them, also half masked, and whatever is long and looks random. */
const KEY_LIKE = [
  /\b(?:sk|pk|rk|ak|tsk|gsk|xai|key|AIza)[-_][\w*.-]{5,}[\w*]/gi,
  /\bbearer\s+\S+/gi,
  /\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{32,}/g,
];

/** A vendor's words, fit to be shown: on one line, short, and without anything that looks like a key. */
export function redactMessage(message: string, apiKey: string): string {
  let shown = apiKey === '' ? message : message.replaceAll(apiKey, '***');
  for (const pattern of KEY_LIKE) shown = shown.replaceAll(pattern, '***');
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  shown = shown.replaceAll(/[\u0000-\u001f\u007f\s]+/g, ' ').trim();
  return shown.length > MAX_MESSAGE_LENGTH ? `${shown.slice(0, MAX_MESSAGE_LENGTH)}…` : shown;
}

/** The sentence inside an error body, of which every vendor has its own form; '' when there is none. */
function vendorWords(body: string): string {
  const parsed = parseJson(body);
  // Some servers wrap the error in a list.
  const outer = asObject(Array.isArray(parsed) ? parsed[0] : parsed);
  const error = outer['error'];
  return asText(asObject(error)['message']) || asText(error) || asText(outer['message']) || asText(outer['detail']);
}

function statusSentence(status: number, upstream: string): string {
  if (status === 401 || status === 403) return `The AI vendor refused the configured key (status ${status})`;
  if (status === 404) return `The AI vendor does not know the model "${upstream}" (status 404)`;
  if (status === 429 || status === 503 || status === 529) return `The AI vendor is overloaded (status ${status})`;
  if (status >= 500) return `The AI vendor failed (status ${status})`;
  return `The AI vendor refused the request (status ${status})`;
}

/** For an answer whose status is not 2xx. */
export function refusal(status: number, body: string, call: FailedCall): AppError {
  const words = redactMessage(vendorWords(body), call.apiKey);
  const sentence = redactMessage(statusSentence(status, call.upstream), call.apiKey);
  return new AppError('AI_CALL_FAILED', words === '' ? `${sentence}.` : `${sentence}: ${words}`);
}

/** For an answer that began well and then said that it failed, ended early or made no sense. */
export function brokenAnswer(words: string, call: FailedCall): AppError {
  return new AppError('AI_CALL_FAILED', `The AI vendor broke off its answer: ${redactMessage(words, call.apiKey)}`);
}

/** For a call that the caller gave up. */
export function stopped(cause: unknown): AppError {
  return new AppError('AI_CALL_FAILED', 'The call to the AI model was stopped before it was complete.', { cause });
}

/** For a connection that could not be made, or was lost. */
export function connectionFailure(error: unknown, call: FailedCall): AppError {
  const codes = errorCodes(error);
  const sentence = (() => {
    if (codes.has('UND_ERR_HEADERS_TIMEOUT')) {
      return `The AI vendor did not begin to answer within ${call.timeoutMs / 1000} seconds.`;
    }
    if (codes.has('UND_ERR_BODY_TIMEOUT')) {
      return `The AI vendor fell silent for ${call.idleTimeoutMs / 1000} seconds in the middle of its answer.`;
    }
    if (isUnsent(error)) return 'The AI vendor could not be reached.';
    return 'The connection to the AI vendor was lost.';
  })();
  return new AppError('AI_CALL_FAILED', sentence, {
    cause: new Error(redactMessage(errorMessage(error), call.apiKey)),
  });
}

const UNSENT_CODES = ['ECONNREFUSED', 'EAI_AGAIN', 'ENOTFOUND', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];

/** Whether the connection failed before anything was sent, so that nothing was used up and trying again is safe. */
export function isUnsent(error: unknown): boolean {
  const codes = errorCodes(error);
  return UNSENT_CODES.some((code) => codes.has(code));
}

/** The codes of an error and of everything that caused it. */
function errorCodes(error: unknown): Set<string> {
  const codes = new Set<string>();
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if ('code' in at && typeof at.code === 'string') codes.add(at.code);
  }
  return codes;
}

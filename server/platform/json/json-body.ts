import { isUtf8 } from 'node:buffer';
import secureJson from 'secure-json-parse';
import { LIMITS } from '../../../contract/shared/limits.ts';
import { AppError } from '../errors/index.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether objects and arrays are nested deeper than allowed. Reads bytes only, so depth costs no stack. */
function isTooDeep(body: Buffer, maxDepth: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i];
    if (inString) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > maxDepth) return true;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return false;
}

/** Escapes that can spell a NUL or half a surrogate pair; rare, so the walk below is rarely needed. */
const SUSPICIOUS_ESCAPE = /\\u(?:0000|d[89a-f])/i;

function refuseUnstorableText(text: string, where: string): void {
  if (text.includes('\0')) {
    throw new AppError('INVALID_REQUEST', `${where} contains the character U+0000, which text cannot hold.`);
  }
  if (!text.isWellFormed()) {
    throw new AppError('INVALID_REQUEST', `${where} contains half of a surrogate pair, which is not a character.`);
  }
}

/** Refuses NUL and lone surrogates in any string or key, naming where. Depth is bounded by the caller. */
function checkStrings(value: unknown, where: string): void {
  if (typeof value === 'string') refuseUnstorableText(value, where || 'The body');
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) checkStrings(item, `${where}[${index}]`);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      refuseUnstorableText(key, where === '' ? 'A key of the body' : `A key of ${where}`);
      checkStrings(item, where === '' ? key : `${where}.${key}`);
    }
  }
}

function parseText(text: string): unknown {
  try {
    return secureJson.parse(text, null, { protoAction: 'error', constructorAction: 'error' });
  } catch (error) {
    const isForbiddenKey = error instanceof Error && error.message.includes('forbidden prototype');
    const message = isForbiddenKey
      ? 'The body contains a key that is not allowed: "__proto__", or "constructor" with a "prototype".'
      : 'The body is not well-formed JSON.';
    throw new AppError('INVALID_JSON', message, { cause: error });
  }
}

/**
 * The value of a JSON body; undefined when it is empty. Refuses what later stages could not bear: broken UTF-8,
 * nesting beyond LIMITS.jsonDepth, keys that reach prototypes, NUL and lone surrogates.
 */
export function parseJsonBody(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw new AppError('INVALID_JSON', 'The body is not valid UTF-8.');
  if (body.length > 2 * LIMITS.jsonDepth && isTooDeep(body, LIMITS.jsonDepth)) {
    throw new AppError('INVALID_JSON', `The body nests objects or arrays deeper than ${LIMITS.jsonDepth} levels.`);
  }
  const text = body.toString('utf8');
  const value = parseText(text);
  if (SUSPICIOUS_ESCAPE.test(text)) checkStrings(value, '');
  return value;
}

import type { OutboundResponse } from '../../platform/net/index.ts';

/** Characters of a failed answer that are shown. */
const SHOWN = 500;

/** What an answer means: the tool's result, or why there is none. */
export type ReadAnswer = { result: unknown } | { error: string };

function charsetOf(contentType: string): string {
  return /charset="?([\w-]+)/i.exec(contentType)?.[1] ?? 'utf-8';
}

function decode(body: Buffer, contentType: string): string | undefined {
  try {
    return new TextDecoder(charsetOf(contentType), { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** JSON where it is an object or a list; numbers and words of plain text stay text. */
function parseStructured(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseDeclared(text: string): ReadAnswer {
  try {
    return { result: JSON.parse(text) };
  } catch {
    return { error: 'The answer says that it is JSON, but is not.' };
  }
}

/**
 * Reads an answer: JSON where it says so or is an object or list all the same, else text; an empty answer is null.
 * A status other than 2xx, bytes that are no text, and JSON that is none are failures.
 */
export function readAnswer({ status, headers, body }: OutboundResponse): ReadAnswer {
  const contentType = headers['content-type'] ?? '';
  const text = decode(body, contentType);
  if (status < 200 || status > 299) {
    const shown = text === undefined || text.trim() === '' ? '' : `: ${text.trim().slice(0, SHOWN).toWellFormed()}`;
    return { error: `The tool's address answered with HTTP ${status}${shown}` };
  }
  if (body.length === 0) return { result: null };
  if (text === undefined || text.includes('\0')) {
    return { error: `The answer is not text (Content-Type: ${contentType || 'none'}).` };
  }
  if (/[/+]json\b/i.test(contentType)) return parseDeclared(text);
  return { result: parseStructured(text) ?? text };
}

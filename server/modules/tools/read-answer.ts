import { TextDecoder } from 'node:util';
import { LIMITS } from '../../../contract/shared/limits.ts';
import type { OutboundResponse } from '../../platform/net/index.ts';
import { isDeeperThan } from './json-depth.ts';

/** Characters of a failed answer that are shown. */
const SHOWN = 500;

/** What an answer means: the tool's result, or why there is none. */
export type ReadAnswer = { result: unknown } | { error: string };

/** The charset that the answer names, if it is one; UTF-8 else. */
function decoderFor(contentType: string): TextDecoder {
  const name = /charset="?([\w-]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(name, { fatal: true });
  } catch {
    return new TextDecoder('utf-8', { fatal: true });
  }
}

/** The text of an answer. What is not in the charset that it names is read as browsers read old pages. */
function decode(body: Buffer, contentType: string): string {
  try {
    return decoderFor(contentType).decode(body);
  } catch {
    return new TextDecoder('windows-1252').decode(body);
  }
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function readText(text: string, contentType: string): ReadAnswer {
  if (text.trim() === '') return { result: /[/+]json\b/i.test(contentType) || text === '' ? null : text };
  const isDeclared = /[/+]json\b/i.test(contentType);
  // Numbers and words of plain text stay text; objects and lists are JSON whatever they are called.
  const parsed = isDeclared || /^\s*[[{]/.test(text) ? parse(text) : undefined;
  if (!parsed) return isDeclared ? { error: 'The answer says that it is JSON, but is not.' } : { result: text };
  if (isDeeperThan(parsed.value, LIMITS.jsonDepth)) {
    return { error: `The answer nests deeper than ${LIMITS.jsonDepth} levels.` };
  }
  return { result: parsed.value };
}

/** What a body holds: JSON where it says so or is an object or list all the same, else text; an empty one is null. */
export function readContent({ headers, body }: Pick<OutboundResponse, 'headers' | 'body'>): ReadAnswer {
  const contentType = headers['content-type'] ?? '';
  const text = decode(body, contentType);
  if (text.includes('\0')) return { error: `The answer is not text (Content-Type: ${contentType || 'none'}).` };
  return readText(text, contentType);
}

/**
 * Reads the answer to a tool's call. A status other than 2xx, bytes that are no text, and JSON that is none are
 * failures.
 */
export function readAnswer({ status, headers, body }: OutboundResponse): ReadAnswer {
  if (status >= 200 && status <= 299) return readContent({ headers, body });
  const text = decode(body, headers['content-type'] ?? '').trim();
  const shown = text.includes('\0') || text === '' ? '' : `: ${text.slice(0, SHOWN).toWellFormed()}`;
  return { error: `The tool's address answered with HTTP ${status}${shown}` };
}

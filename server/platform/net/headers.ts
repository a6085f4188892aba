import { OutboundError } from './outbound-error.ts';

export type Headers = Record<string, string>;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Visible characters, spaces and tabs; no line break, so that a value cannot begin another header. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers that belong to the connection or are made here; what a caller says of them does not count. */
const OWN = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Methods that turn the connection into something else, or make the target repeat what it was sent (as in fetch). */
const FORBIDDEN_METHODS = new Set(['CONNECT', 'TRACE', 'TRACK']);

/** A method as it is sent. Throws `refused` for what is no method, or one that makes a proxy of the target. */
export function requestMethod(method: string): string {
  const upper = method.toUpperCase();
  if (!TOKEN.test(upper) || FORBIDDEN_METHODS.has(upper)) {
    throw new OutboundError('refused', `${JSON.stringify(method)} is not a method that can be sent.`);
  }
  return upper;
}

/** A caller's headers in lower case, without those that are not the caller's to set. Throws `refused` on broken ones. */
export function requestHeaders(given: Headers): Headers {
  const entries = Object.entries(given).map(([name, value]): [string, string] => {
    if (!TOKEN.test(name)) throw new OutboundError('refused', `${JSON.stringify(name)} is not a valid header name.`);
    if (!VALUE.test(value)) {
      throw new OutboundError(
        'refused',
        `The header ${name} contains a line break or another character that headers cannot hold.`,
      );
    }
    return [name.toLowerCase(), value];
  });
  return Object.fromEntries(entries.filter(([name]) => !OWN.has(name)));
}

/** Headers that may go along when a redirect leads to another origin: none that could carry a credential. */
const HARMLESS = new Set(['accept', 'content-type', 'user-agent']);

/** Headers that describe a body, and go when it goes (fetch standard, request-body-header names). */
const OF_BODY = new Set(['content-encoding', 'content-language', 'content-location', 'content-type']);

export function withoutCredentials(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS.has(name)));
}

export function withoutBodyHeaders(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_BODY.has(name)));
}

/** An answer's headers as one string each. */
export function responseHeaders(raw: Record<string, string | string[] | undefined>): Headers {
  // Object.fromEntries, not assignment: a sender may call a header __proto__.
  return Object.fromEntries(
    Object.entries(raw).map(([name, value = '']) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

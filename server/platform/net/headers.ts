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

/** A caller's headers in lower case, without those that are not the caller's to set. Throws `refused` on broken ones. */
export function requestHeaders(given: Headers): Headers {
  const headers: Headers = {};
  for (const [name, value] of Object.entries(given)) {
    const lowerName = name.toLowerCase();
    if (!TOKEN.test(name)) throw new OutboundError('refused', `"${name}" is not a valid header name.`);
    if (!VALUE.test(value)) {
      throw new OutboundError(
        'refused',
        `The header ${name} contains a line break or another character that headers cannot hold.`,
      );
    }
    if (!OWN.has(lowerName)) headers[lowerName] = value;
  }
  return headers;
}

/** Headers that may go along when a redirect leads to another origin: none that could carry a credential. */
const HARMLESS = new Set(['accept', 'accept-language', 'content-type', 'user-agent']);

export function withoutCredentials(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS.has(name)));
}

/** An answer's headers as one string each. */
export function responseHeaders(raw: Record<string, string | string[] | undefined>): Headers {
  const headers: Headers = {};
  for (const [name, value] of Object.entries(raw)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
}

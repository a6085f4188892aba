import { errors } from 'undici';
import { OutboundError, type OutboundFailure } from './outbound-error.ts';

const INVALID_HTTP = 'The answer is not valid HTTP.';

/** What the codes of Node and undici mean to a caller. */
const MEANINGS = new Map<string, [OutboundFailure, string]>([
  ['ECONNREFUSED', ['unreachable', 'The connection was refused.']],
  ['ECONNRESET', ['unreachable', 'The connection was closed before there was an answer.']],
  ['EPIPE', ['unreachable', 'The connection was closed before there was an answer.']],
  ['EHOSTUNREACH', ['unreachable', 'The host cannot be reached.']],
  ['ENETUNREACH', ['unreachable', 'The network of the host cannot be reached.']],
  ['ENOTFOUND', ['unreachable', 'The host could not be found.']],
  ['ETIMEDOUT', ['unreachable', 'The connection could not be made in time.']],
  ['UND_ERR_CONNECT_TIMEOUT', ['unreachable', 'The connection could not be made in time.']],
  ['UND_ERR_SOCKET', ['unreachable', 'The connection was closed before the answer was complete.']],
  ['UND_ERR_HEADERS_TIMEOUT', ['timeout', 'The answer did not begin in time.']],
  ['UND_ERR_BODY_TIMEOUT', ['timeout', 'The answer fell silent before it was complete.']],
  ['UND_ERR_HEADERS_OVERFLOW', ['bad_response', 'The headers of the answer are too large.']],
  ['HPE_HEADER_OVERFLOW', ['bad_response', 'The headers of the answer are too large.']],
  ['UND_ERR_ABORTED', ['aborted', 'The request was given up.']],
  ['UND_ERR_DESTROYED', ['aborted', 'The request was given up, for the server is closing.']],
  // How undici meets some answers that no server may give, such as status 000. Nothing of ours asserts.
  ['ERR_ASSERTION', ['bad_response', INVALID_HTTP]],
  ['ABORT_ERR', ['aborted', 'The request was given up.']],
  ['UND_ERR_INVALID_ARG', ['refused', 'The request cannot be sent as HTTP.']],
]);

/** The names that Node gives to what OpenSSL finds wrong with a certificate (man X509_STORE_CTX_get_error). */
const CERTIFICATE_FAILURE =
  /CERT|CRL|LEAF_SIGNATURE|ISSUER_PUBLIC_KEY|^(INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH|UNSPECIFIED)$/;

/** Code of an error, or of the first of several attempts that an error sums up. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function meaningOf(code: string): [OutboundFailure, string] | undefined {
  const known = MEANINGS.get(code);
  if (known) return known;
  if (CERTIFICATE_FAILURE.test(code)) return ['unreachable', `The host has no valid certificate (${code}).`];
  if (/^ERR_(SSL|OSSL|TLS)_/.test(code)) return ['unreachable', 'The host does not speak TLS as expected.'];
  if (/^(HPE|UND_ERR)_/.test(code)) return ['bad_response', INVALID_HTTP];
  if (/^E[A-Z]+$/.test(code)) return ['unreachable', `The connection failed (${code}).`];
  return undefined;
}

/**
 * Tells the failures of a connection apart. Whatever is no such failure, and so a mistake of ours, is given back as it is.
 */
export function explainFailure(error: unknown): unknown {
  if (error instanceof OutboundError) return error;
  if (error instanceof DOMException && error.name === 'AbortError') {
    return new OutboundError('aborted', 'The request was given up.', { cause: error });
  }
  const code = codeOf(error);
  // It comes with or without a code.
  const meaning = meaningOf(code === '' && error instanceof errors.HTTPParserError ? 'HPE_INVALID' : code);
  return meaning ? new OutboundError(...meaning, { cause: error }) : error;
}

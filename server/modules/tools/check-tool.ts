import type { Execution } from '../../../contract/routes/tools.ts';
import { AppError } from '../../platform/errors/index.ts';
import { inputValidator } from './input-schema/index.ts';
import { placeholdersIn, replacePlaceholders } from './placeholders.ts';

/** `packs` is a path of its own; dots are taken out of paths by clients. */
const RESERVED_NAMES = new Set(['packs', '.', '..']);

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Headers that belong to the connection. */
const OWN_HEADERS = new Set(['connection', 'content-length', 'expect', 'host', 'te', 'transfer-encoding', 'upgrade']);
/** Base of relative addresses, only to look at their form (RFC 2606). */
const NO_HOST = 'http://base.invalid/';
const MAX_EXECUTION_BYTES = 64 * 1024;
const LINE_BREAK = /[\r\n\0]/;

function refuse(field: string, why: string): never {
  throw new AppError('INVALID_REQUEST', `${field} ${why}`);
}

export function demandUsableName(name: string, field: string): void {
  if (RESERVED_NAMES.has(name)) refuse(field, `must not be "${name}", which is reserved.`);
  if (name.trim() === '') refuse(field, 'must not be blank.');
}

/** Where a url leads when its placeholders hold this word; a relative one leads to a host of no meaning. */
function sampleUrl(template: string, word: string, field: string): URL {
  const sample = replacePlaceholders(template, () => word);
  if (!URL.canParse(sample, NO_HOST)) refuse(field, 'is not a valid URL.');
  return new URL(sample, NO_HOST);
}

function demandUsableUrl(template: string, field: string): void {
  const [one, other] = [sampleUrl(template, 'a1', field), sampleUrl(template, 'b2', field)];
  if (one.protocol !== other.protocol || one.host !== other.host) {
    refuse(field, 'must not have placeholders before the path: they could change the host.');
  }
  const { protocol, username, password } = one;
  if (protocol !== 'http:' && protocol !== 'https:')
    refuse(field, 'must start with http:// or https://, or be relative.');
  if (username !== '' || password !== '') refuse(field, 'must not contain a user name or password.');
}

function demandUsableHeaders(headers: Record<string, unknown>, field: string): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name) || placeholdersIn(name).length > 0)
      refuse(`${field}.${name}`, 'is not a valid header name.');
    if (OWN_HEADERS.has(name.toLowerCase())) refuse(`${field}.${name}`, 'is set by the service itself.');
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      refuse(`${field}.${name}`, 'must be text.');
    }
    if (LINE_BREAK.test(String(value))) refuse(`${field}.${name}`, 'must not contain line breaks.');
  }
}

/** Checks what can be told of an execution without running it; messages name the field below `field`. */
function demandUsableExecution(execution: Execution, field: string): void {
  if (Buffer.byteLength(JSON.stringify(execution)) > MAX_EXECUTION_BYTES) {
    refuse(field, `is larger than ${MAX_EXECUTION_BYTES / 1024} kB.`);
  }
  if (execution.type === 'handler') return;
  if (execution.url === undefined) refuse(`${field}.url`, 'is required for an http tool.');
  demandUsableUrl(execution.url, `${field}.url`);
  demandUsableHeaders(execution.headers ?? {}, `${field}.headers`);
}

/** The input_schema of a tool that states none. */
export const ANY_INPUT: Record<string, unknown> = { type: 'object', properties: {} };

/** Checks the parts of a tool that are given; `prefix` goes before the names of fields. */
export function demandUsableTool(
  tool: { input_schema?: Record<string, unknown> | undefined; execution?: Execution | undefined },
  prefix = '',
): void {
  if (tool.input_schema) inputValidator(tool.input_schema, `${prefix}input_schema`);
  if (tool.execution) demandUsableExecution(tool.execution, `${prefix}execution`);
}

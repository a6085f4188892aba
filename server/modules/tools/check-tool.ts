import type { Execution } from '../../../contract/routes/tools.ts';
import { AppError } from '../../platform/errors/index.ts';
import { inputValidator } from './input-schema/compile-schema.ts';
import { demandFixedHost, placeholdersIn } from './placeholders.ts';

/** `packs` is a path of its own; dots are taken out of paths by clients. */
const RESERVED_NAMES = new Set(['packs', '.', '..']);

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const LINE_BREAK = /[\r\n\0]/;

function refuse(field: string, why: string): never {
  throw new AppError('INVALID_REQUEST', `${field} ${why}`);
}

export function demandUsableName(name: string, field: string): void {
  if (RESERVED_NAMES.has(name)) refuse(field, `must not be "${name}", which is reserved.`);
  if (name.trim() === '') refuse(field, 'must not be blank.');
}

function demandUsableUrl(url: string, field: string): void {
  demandFixedHost(url, field);
  const sample = url.replaceAll(/[{}]/g, '');
  if (!/^[a-z][a-z0-9+.-]*:/i.test(sample)) return;
  if (!URL.canParse(sample)) refuse(field, 'is not a valid URL.');
  const { protocol, username, password } = new URL(sample);
  if (protocol !== 'http:' && protocol !== 'https:') refuse(field, 'must start with http:// or https://.');
  if (username !== '' || password !== '') refuse(field, 'must not contain a user name or password.');
}

function demandUsableHeaders(headers: Record<string, unknown>, field: string): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name) || placeholdersIn(name).length > 0)
      refuse(`${field}.${name}`, 'is not a valid header name.');
    if (typeof value === 'object') refuse(`${field}.${name}`, 'must be text.');
    if (LINE_BREAK.test(String(value))) refuse(`${field}.${name}`, 'must not contain line breaks.');
  }
}

/** Checks what can be told of an execution without running it; messages name the field below `field`. */
export function demandUsableExecution(execution: Execution, field: string): void {
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

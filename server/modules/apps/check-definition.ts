import type { AppDefinition } from '../../../contract/routes/apps.ts';
import { AppError } from '../../platform/errors/index.ts';

const MAX_DEFINITION_BYTES = 512 * 1024;
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Visible Latin-1, and no line break that would begin another header. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that belong to the connection. */
const OWN_HEADERS = new Set(['connection', 'content-length', 'expect', 'host', 'te', 'transfer-encoding', 'upgrade']);
/** Dots are taken out of paths by clients. */
const UNREACHABLE_IDS = new Set(['.', '..']);

function refuse(field: string, why: string): never {
  throw new AppError('INVALID_REQUEST', `${field} ${why}`);
}

function demandUsableBaseUrl(baseUrl: string): void {
  const field = 'serviceConfig.baseUrl';
  if (!URL.canParse(baseUrl)) refuse(field, 'is not a valid URL.');
  const { protocol, username, password, search, hash } = new URL(baseUrl);
  if (protocol !== 'http:' && protocol !== 'https:') refuse(field, 'must start with http:// or https://.');
  if (username !== '' || password !== '') refuse(field, 'must not contain a user name or password.');
  if (search !== '' || hash !== '') refuse(field, 'must not have a query or a fragment: tools are joined to it.');
}

function demandUsableHeaders(headers: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(headers)) {
    const field = `serviceConfig.headers.${name}`;
    if (!HEADER_NAME.test(name)) refuse(field, 'is not a valid header name.');
    if (OWN_HEADERS.has(name.toLowerCase())) refuse(field, 'is set by the service itself.');
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      refuse(field, 'must be text.');
    }
    if (!HEADER_VALUE.test(String(value))) {
      refuse(field, 'holds a line break or a character that headers cannot hold.');
    }
  }
}

function demandUsableCredentials(names: readonly string[]): void {
  for (const [index, name] of names.entries()) {
    const field = `serviceConfig.credentials[${index}]`;
    if (/[{}]/.test(name) || name.trim() !== name) refuse(field, 'must not hold braces or outer white space.');
    if (names.indexOf(name) !== index) refuse(field, 'is named twice.');
  }
}

/** Checks what the schema of the contract cannot say. */
export function demandUsableDefinition(definition: AppDefinition): void {
  const { app, serviceConfig = {} } = definition;
  if (app.id.trim() === '' || UNREACHABLE_IDS.has(app.id)) refuse('app.id', 'must not be blank or dots alone.');
  if (app.name.trim() === '') refuse('app.name', 'must not be blank.');
  if (serviceConfig.baseUrl !== undefined && serviceConfig.baseUrl !== '') demandUsableBaseUrl(serviceConfig.baseUrl);
  if (serviceConfig.headers) demandUsableHeaders(serviceConfig.headers);
  if (serviceConfig.credentials) demandUsableCredentials(serviceConfig.credentials);
  if (Buffer.byteLength(JSON.stringify(definition)) > MAX_DEFINITION_BYTES) {
    refuse('The definition', `is larger than ${MAX_DEFINITION_BYTES / 1024} kB.`);
  }
}

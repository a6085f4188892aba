import { ERROR_CODES, type ErrorCode } from '../../../contract/shared/errors.ts';
import type { RouteContract } from '../../../contract/shared/route.ts';
import { ANSWER_HEADERS, headersOf } from './headers.ts';

/** Refusals that any operation may meet. */
const SHARED: readonly ErrorCode[] = ['UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMITED', 'INTERNAL_ERROR', 'UNAVAILABLE'];
const OF_BODIES: readonly ErrorCode[] = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];

interface Refusal {
  code: ErrorCode;
  /** The body carries a message alone. */
  isBare: boolean;
}

function describe({ code, isBare }: Refusal): string {
  return isBare
    ? `${ERROR_CODES[code].doc} The body carries a message alone.`
    : `\`${code}\`: ${ERROR_CODES[code].doc}`;
}

function exampleBody({ code, isBare }: Refusal): object {
  const message = ERROR_CODES[code].doc;
  return { error: isBare ? { message } : { code, message } };
}

function schemaOf(refusals: readonly Refusal[]): object {
  const names = new Set(refusals.map(({ isBare }) => (isBare ? 'ErrorWithoutCode' : 'Error')));
  const refs = [...names].map((name) => ({ $ref: `#/components/schemas/${name}` }));
  return refs.length === 1 ? { ...refs[0] } : { anyOf: refs };
}

function responseOf(refusals: readonly Refusal[]): object {
  const isLimit = refusals.some(({ code }) => code === 'RATE_LIMITED');
  const examples: Record<string, object> = {};
  for (const refusal of refusals) examples[refusal.code] = { value: exampleBody(refusal) };
  return {
    description:
      refusals.length === 1 ? refusals.map(describe).join('') : refusals.map((one) => `- ${describe(one)}`).join('\n'),
    headers: headersOf(isLimit ? [...ANSWER_HEADERS, 'Retry-After'] : ANSWER_HEADERS),
    content: { 'application/json': { schema: schemaOf(refusals), examples } },
  };
}

/** One response per code, for the operations where its status means nothing else. */
export function sharedErrorResponses(): Record<string, object> {
  return Object.fromEntries(codesOf(ERROR_CODES).map((code) => [code, responseOf([{ code, isBare: false }])]));
}

/** Safe because the table is a constant: it has the keys of its type and no others. */
function codesOf(table: typeof ERROR_CODES): ErrorCode[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return Object.keys(table) as ErrorCode[];
}

function groupResponse(refusals: readonly Refusal[]): object {
  const [first, ...others] = refusals;
  const isShared = first !== undefined && others.length === 0 && !first.isBare;
  return isShared ? { $ref: `#/components/responses/${first.code}` } : responseOf(refusals);
}

/** The refusals of an operation by status: its own and those that every operation shares. */
export function errorResponses(contract: RouteContract): Record<string, object> {
  const bare = new Set(contract.errorsWithoutCode);
  const codes = new Set([...contract.errors, ...bare, ...SHARED, ...(contract.body ? OF_BODIES : [])]);
  const refusals = [...codes].map((code) => ({ code, isBare: bare.has(code) }));
  const byStatus = [...Map.groupBy(refusals, ({ code }) => ERROR_CODES[code].status)];
  return Object.fromEntries(byStatus.map(([status, group]) => [status, groupResponse(group)]));
}

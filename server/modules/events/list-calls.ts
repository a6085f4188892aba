import type { listCalls as contract, LoggedCall } from '../../../contract/routes/call-log.ts';
import type { RouteInput, RouteOutput } from '../../../contract/shared/route.ts';
import type { Queryable } from '../../platform/db/index.ts';
import { AppError } from '../../platform/errors/index.ts';
import { readCalls, readReach, type CallFilter, type CallPosition, type LoggedCallRow } from './call-log.store.ts';

const DEFAULT_PAGE = 100;
/** How many calls one request looks at for those that pass its filter: some ten milliseconds of the database. */
const REACH = 20_000;

function wireCall(row: LoggedCallRow): LoggedCall {
  return {
    _id: `call_${row.seq}`,
    userId: row.developerId,
    endpoint: row.endpoint,
    method: row.method,
    status: row.status,
    timestamp: new Date(row.atMs).toISOString(),
    responseTime: row.responseTimeMs,
  };
}

/** The position, wrapped so that nobody builds on it. */
function writeCursor({ atMs, seq }: CallPosition): string {
  return Buffer.from(`${atMs}.${seq}`).toString('base64url');
}

function readCursor(cursor: string): CallPosition {
  const [, atMs, seq] = /^(\d{1,15})\.(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (atMs === undefined || seq === undefined) {
    throw new AppError('INVALID_REQUEST', 'cursor must be the nextCursor of an earlier page.');
  }
  return { atMs: Number(atMs), seq: Number(seq) };
}

/** A page of the developer's calls, newest first. */
export async function listCalls(
  db: Queryable,
  developerId: string,
  query: RouteInput<typeof contract>['query'],
): Promise<RouteOutput<typeof contract>> {
  const { limit = DEFAULT_PAGE, cursor, endpoint, method, status } = query;
  const before = cursor === undefined ? undefined : readCursor(cursor);
  const filter: CallFilter = { developerId, before, endpoint, method, status };
  const isFiltered = (endpoint ?? method ?? status) !== undefined;
  // One more than is shown tells whether there are more.
  const reach = isFiltered ? REACH : limit + 1;
  const rows = await readCalls(db, filter, { limit: limit + 1, reach });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  const end = last ?? (isFiltered ? await readReach(db, filter, reach) : undefined);
  return { logs: shown.map(wireCall), ...(end ? { nextCursor: writeCursor(end) } : {}) };
}

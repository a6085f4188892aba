import { AppError } from '../../../platform/errors/index.ts';

/** A place in a list, wrapped so that nobody builds on it. */
export function writeCursor(place: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

function parseCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}

/** The place of a cursor, whose parts have the given types. */
export function readCursor(cursor: string, types: readonly ('string' | 'number')[]): (string | number)[] {
  const place = parseCursor(cursor);
  const isPlace =
    Array.isArray(place) &&
    place.length === types.length &&
    place.every(
      (part, i) => typeof part === types[i] && (typeof part !== 'number' || (Number.isSafeInteger(part) && part >= 0)),
    );
  if (!isPlace) throw new AppError('INVALID_REQUEST', 'cursor must be the nextCursor of an earlier page.');
  return asPlace(place);
}

/** Safe because every part was just checked. */
function asPlace(place: unknown[]): (string | number)[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return place as (string | number)[];
}

import { AppError } from '../../platform/errors/index.ts';

/** A place in a list, wrapped so that nobody builds on it. */
export function writeCursor(place: string | number): string {
  return Buffer.from(String(place)).toString('base64url');
}

/** The place of a cursor that has the form of a place in that list. */
export function readCursor(cursor: string, form: RegExp): string {
  const place = Buffer.from(cursor, 'base64url').toString();
  if (!form.test(place)) throw new AppError('INVALID_REQUEST', 'cursor must be the nextCursor of an earlier page.');
  return place;
}

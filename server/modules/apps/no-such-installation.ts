import { AppError } from '../../platform/errors/index.ts';
import { isId } from '../../platform/ids/index.ts';

/** The refusal for an id that is absent or somebody else's: both look the same. */
export function noSuchInstallation(id: string): AppError {
  return new AppError('NOT_FOUND', `There is no installation "${id}".`);
}

/** Throws NOT_FOUND for what cannot be the id of an installation. */
export function demandInstallationId(id: string): void {
  if (!isId('inst', id)) throw noSuchInstallation(id);
}

/** The refusal for an id that is absent or not published: both look the same. */
export function noSuchListing(id: string): AppError {
  return new AppError('NOT_FOUND', `There is no published app "${id}".`);
}

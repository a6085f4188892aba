import { AppError } from '../../platform/errors/index.ts';

/** The refusal for an id that is absent or somebody else's: both look the same. */
export function noSuchApp(id: string): AppError {
  return new AppError('NOT_FOUND', `There is no app "${id}".`);
}

import { AppError } from '../../platform/errors/index.ts';

/** The refusal for a name that is absent or somebody else's: both look the same. */
export function noSuchTool(name: string): AppError {
  return new AppError('NOT_FOUND', `There is no tool named "${name}".`);
}

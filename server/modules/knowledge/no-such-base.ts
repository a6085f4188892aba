import { AppError } from '../../platform/errors/index.ts';

/** The refusal for a base that is absent or somebody else's: both look the same. */
export function noSuchBase(id: string): AppError {
  return new AppError('NOT_FOUND', `There is no knowledge base "${id}".`);
}

export function noSuchDocument(id: string): AppError {
  return new AppError('NOT_FOUND', `There is no document "${id}" in the knowledge base.`);
}

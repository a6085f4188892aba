import { AppError } from '../../platform/errors/index.ts';

export function noSuchWorkflow(id: string): AppError {
  return new AppError('NOT_FOUND', `There is no workflow "${id}".`);
}

export function noSuchRun(runId: string): AppError {
  return new AppError('NOT_FOUND', `There is no run "${runId}" of this workflow.`);
}

import type { Logger as WorkerLogger, LogFunctionFactory } from 'graphile-worker';
import type { Logger } from 'pino';

/** The library's chatter goes to debug: every job it runs is news to it. Failures of jobs stay visible. */
export async function createWorkerLogger(log: Logger): Promise<WorkerLogger> {
  const { Logger: LibraryLogger } = await import('graphile-worker');
  const factory: LogFunctionFactory = (scope) => (level, message, meta) => {
    const target = level === 'error' ? 'error' : level === 'warning' ? 'warn' : 'debug';
    const cause = meta?.['error'];
    log[target]({ ...scope, ...(cause === undefined ? {} : { err: cause }) }, message);
  };
  return new LibraryLogger(factory);
}

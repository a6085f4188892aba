import type { Handler } from '../../contract/agent/protocol.ts';

/** What a handler is told beside its input. */
interface RunContext {
  /** Aborted when nobody waits for the result any more. */
  signal: AbortSignal;
}

/** A handler of the folder, ready to run. */
export interface LoadedHandler extends Handler {
  run: (input: Record<string, unknown>, context: RunContext) => unknown;
}

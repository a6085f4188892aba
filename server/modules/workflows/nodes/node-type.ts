import type { RequestContext } from '../../../platform/http/index.ts';

/** What a step is run with. */
export interface StepContext {
  /** In whose name, and until when: the signal ends the attempt. Whose `depth` events of the step carry. */
  ctx: RequestContext;
  /** The same whenever this attempt is repeated after a crash; goes out as `Idempotency-Key`. */
  attemptId: string;
  /** Data that expressions can name, unfilled: trigger data and results by node id. */
  triggerData: unknown;
  results: ReadonlyMap<string, unknown>;
}

/**
 * Runs a step with its filled configuration and gives its result, any JSON value. Throws StepError for whatever the user
 * should read; anything else is a fault of ours.
 */
export type RunNode = (config: Record<string, unknown>, step: StepContext) => Promise<unknown>;

/** A step that failed. Its message is shown to the user. */
export class StepError extends Error {
  /** What there is of a result in spite of it, such as the answer with a bad status. */
  readonly result: unknown;

  constructor(message: string, result?: unknown) {
    super(message);
    this.name = 'StepError';
    this.result = result;
  }
}

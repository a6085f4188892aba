import { StepError, type RunNode, type StepContext } from './node-type.ts';

/** What a node is run with when its own work is all that matters. */
export function fakeStep(given: Partial<StepContext> & { signal?: AbortSignal } = {}): StepContext {
  const { signal = new AbortController().signal, ...rest } = given;
  return {
    ctx: {
      requestId: 'run_1:n:1',
      caller: { keyId: 'key_1', developerId: 'dev_1', permissions: [], tier: 'free', isOperator: false },
      signal,
    },
    attemptId: 'run_1:n:1',
    triggerData: null,
    results: new Map(),
    ...rest,
  };
}

/** The StepError that a node ends with. */
export async function stepFailure(work: ReturnType<RunNode>): Promise<StepError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof StepError) return error;
    throw error;
  }
  throw new Error('the step did not fail');
}

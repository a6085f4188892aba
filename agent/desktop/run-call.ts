import { AGENT_LIMITS } from '../../contract/agent/limits.ts';
import type { Call, Result } from '../../contract/agent/protocol.ts';
import type { LoadedHandler } from './handler.ts';

/** Asks the person at the machine. */
export type Ask = (question: string, signal: AbortSignal) => Promise<boolean>;

export interface RunOptions {
  handlers: ReadonlyMap<string, LoadedHandler>;
  ask: Ask | undefined;
}

type Outcome = Omit<Result, 'type' | 'callId'>;

function failed(error: string): Outcome {
  return { status: 'error', error: error.slice(0, AGENT_LIMITS.textLength).toWellFormed() };
}

/** A value as JSON carries it; what JSON cannot carry is null. */
function succeeded(value: unknown): Outcome {
  const text = JSON.stringify(value ?? null) ?? 'null';
  const bytes = Buffer.byteLength(text);
  if (bytes > AGENT_LIMITS.resultBytes) {
    return failed(`The result has ${bytes} bytes, and may have ${AGENT_LIMITS.resultBytes}.`);
  }
  return { status: 'success', result: JSON.parse(text) };
}

async function run({ handlers, ask }: RunOptions, call: Call, signal: AbortSignal): Promise<Outcome> {
  const handler = handlers.get(call.handler);
  if (!handler) return failed(`This agent has no handler "${call.handler}".`);
  if (ask && !(await ask(`Run ${call.handler} with ${JSON.stringify(call.input)}?`, signal))) {
    return failed('The person at the agent refused the call.');
  }
  return succeeded(await handler.run(call.input, { signal }));
}

/** Runs a call. Never rejects: whatever goes wrong is its outcome. */
export async function runCall(options: RunOptions, call: Call, signal: AbortSignal): Promise<Result> {
  const { callId } = call;
  try {
    return { type: 'result', callId, ...(await run(options, call, signal)) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { type: 'result', callId, ...failed(reason === '' ? 'The handler failed.' : reason) };
  }
}

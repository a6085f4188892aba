/** How a call of a handler ended. Failing is an ordinary outcome. */
export type CallOutcome =
  | { status: 'success'; result: unknown }
  | { status: 'error'; reason: CallFailureReason; error: string };

/**
 * `no_agent` and `busy`: it was sent to nobody. `failed`: the handler says so. `disconnected`: the agent left while it
 * ran, or was made to. `timeout` and `cancelled`: nobody waits any more. After these three nobody knows how far it came.
 */
export type CallFailureReason = 'no_agent' | 'busy' | 'failed' | 'disconnected' | 'timeout' | 'cancelled';

export function failure(reason: CallFailureReason, error: string): CallOutcome {
  return { status: 'error', reason, error };
}

/** Whether another agent may be asked instead: this one was not. */
export function wasNotSent(outcome: CallOutcome): boolean {
  return outcome.status === 'error' && (outcome.reason === 'no_agent' || outcome.reason === 'busy');
}

/** A call as an agent is asked for it. */
export interface AgentCall {
  callId: string;
  handler: string;
  input: Record<string, unknown>;
  timeoutMs: number;
  signal: AbortSignal;
}

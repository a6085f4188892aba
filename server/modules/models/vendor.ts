import type { Clock } from '../../platform/clock/index.ts';
import type { Secret } from '../../platform/config/index.ts';
import type { CallQueue, Priority } from './call-queue.ts';
import type { Protocol } from './protocol.ts';
import type { Transport } from './send-request.ts';
import type { ModelUsage } from './types.ts';

export type CallOutcome = 'finished' | 'failed' | 'abandoned';

/** What is known of a call when it is over, for metrics. */
export interface CallFacts {
  vendor: string;
  /** The vendor's name of the model. Callers of a configured vendor choose it freely. */
  model: string;
  outcome: CallOutcome;
  /** From the request, waiting for a slot included. */
  durationMs: number;
  usage: ModelUsage;
}

/** A vendor as its models need it. */
export interface Vendor {
  name: string;
  protocol: Protocol;
  baseUrl: string;
  apiKey: Secret;
  priority: Priority;
  maxOutputTokens: number;
  /** Until the answer begins. */
  timeoutMs: number;
  /** Between two pieces of an answer. */
  idleTimeoutMs: number;
  queue: CallQueue;
  transport: Transport;
  clock: Clock;
  onCall?: ((facts: CallFacts) => void) | undefined;
}

import type { RequestContext } from '../../platform/http/index.ts';
import { createId } from '../../platform/ids/index.ts';
import type { AiDependencies } from './ai.ts';
import type { ChatEnding } from './chat.store.ts';
import { UsageTally } from './usage-tally.ts';

interface MeteredCalls<T> {
  ctx: RequestContext;
  /** Public name. */
  model: string;
  /** Makes the calls, each of them a step of the tally. */
  call: (tally: UsageTally) => Promise<T>;
}

/**
 * Calls a model for something that is no conversation: no turns, no event. However it ends, exactly one usage row is
 * left. Throws what `call` throws.
 */
export async function meteredCalls<T>(
  ai: Pick<AiDependencies, 'ledger'>,
  { ctx, model, call }: MeteredCalls<T>,
): Promise<T> {
  const { caller, signal, requestId } = ctx;
  const tally = new UsageTally();
  const startedAtMs = Date.now();
  let outcome: ChatEnding['usage']['outcome'] = 'failed';
  try {
    const result = await call(tally);
    outcome = 'finished';
    return result;
  } finally {
    if (outcome === 'failed' && signal.aborted) outcome = 'abandoned';
    ai.ledger.enqueue({
      developerId: caller.developerId,
      usage: {
        id: createId('use'),
        keyId: caller.keyId,
        requestId,
        model,
        outcome,
        ...tally.total,
        steps: tally.steps,
        startedAt: new Date(startedAtMs).toISOString(),
        durationMs: Date.now() - startedAtMs,
      },
      turns: [],
    });
  }
}

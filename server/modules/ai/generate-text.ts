import type { RequestContext } from '../../platform/http/index.ts';
import { createId } from '../../platform/ids/index.ts';
import type { ModelUsage } from '../models/index.ts';
import type { Ai } from './ai.ts';
import type { ChatEnding } from './chat.store.ts';
import { DEFAULT_SYSTEM_PROMPT } from './default-system-prompt.ts';
import { UsageTally } from './usage-tally.ts';

/** A single question to a model: no tools, no history. */
interface TextRequest {
  prompt: string;
  /** Public name; the default model when absent. */
  model?: string | undefined;
  systemPrompt?: string | undefined;
  /** Asks for an answer that is JSON and nothing else. */
  jsonOutput?: boolean;
}

interface GeneratedText {
  text: string;
  model: string;
  usage: ModelUsage;
}

/**
 * Asks a model once. However it ends, exactly one usage row is left; it is no conversation, so it has no event. Throws
 * what resolving and calling the model throw.
 */
export async function generateText(ai: Ai, ctx: RequestContext, request: TextRequest): Promise<GeneratedText> {
  const { caller, signal } = ctx;
  const { name: model, upstream, model: client } = ai.models.resolve(request.model, caller.tier);
  const tally = new UsageTally();
  const startedAtMs = Date.now();
  let outcome: ChatEnding['usage']['outcome'] = 'failed';
  try {
    const answer = await client.generate({
      model: upstream,
      system: request.systemPrompt ?? DEFAULT_SYSTEM_PROMPT,
      messages: [{ role: 'user', text: request.prompt }],
      tools: [],
      toolChoice: 'none',
      signal,
      onUsage: tally.beginStep(),
      ...(request.jsonOutput === true && { jsonOutput: true }),
    });
    tally.endStep(answer.usage);
    outcome = 'finished';
    return { text: answer.text, model, usage: answer.usage };
  } finally {
    if (outcome === 'failed' && signal.aborted) outcome = 'abandoned';
    ai.ledger.enqueue({
      developerId: caller.developerId,
      usage: {
        id: createId('use'),
        keyId: caller.keyId,
        requestId: ctx.requestId,
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

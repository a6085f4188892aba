import type { RequestContext } from '../../platform/http/index.ts';
import type { ModelUsage } from '../models/index.ts';
import type { Ai } from './ai.ts';
import { DEFAULT_SYSTEM_PROMPT } from './default-system-prompt.ts';
import { meteredCalls } from './metered-calls.ts';

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
  const { name: model, upstream, model: client } = ai.models.resolve(request.model, ctx.caller.tier);
  return meteredCalls(ai, {
    ctx,
    model,
    call: async (tally) => {
      const answer = await client.generate({
        model: upstream,
        system: request.systemPrompt ?? DEFAULT_SYSTEM_PROMPT,
        messages: [{ role: 'user', text: request.prompt }],
        tools: [],
        toolChoice: 'none',
        signal: ctx.signal,
        onUsage: tally.beginStep(),
        ...(request.jsonOutput === true && { jsonOutput: true }),
      });
      tally.endStep(answer.usage);
      return { text: answer.text, model, usage: answer.usage };
    },
  });
}

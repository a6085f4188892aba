import type { analyze as contract } from '../../../../contract/routes/ai.ts';
import type { RouteInput, RouteOutput } from '../../../../contract/shared/route.ts';
import { AppError } from '../../../platform/errors/index.ts';
import type { RequestContext } from '../../../platform/http/index.ts';
import type { ModelAnswer, ModelMessage, ResolvedModel } from '../../models/index.ts';
import type { AiDependencies } from '../ai.ts';
import { meteredCalls } from '../metered-calls.ts';
import type { UsageTally } from '../usage-tally.ts';
import { analysisMessage, analysisSystem, repairMessage, type AnalysisFormat } from './analysis-prompt.ts';
import { dataSections, type Data } from './data-sections.ts';
import { fitSections } from './fit-sections.ts';
import { jsonAnswer } from './json-answer.ts';
import { profileTable } from './profile-table.ts';

/** Spec: at most so many tokens. */
const MAX_OUTPUT_TOKENS = 8192;

type Ask = (messages: ModelMessage[]) => Promise<ModelAnswer>;

interface Analysis {
  resolved: ResolvedModel;
  format: AnalysisFormat;
  signal: AbortSignal;
  tally: UsageTally;
}

function askerOf({ resolved, format, signal, tally }: Analysis): Ask {
  return async (messages) => {
    const answer = await resolved.model.generate({
      model: resolved.upstream,
      system: analysisSystem(format),
      messages,
      tools: [],
      toolChoice: 'none',
      maxOutputTokens: MAX_OUTPUT_TOKENS,
      ...(format === 'json' && { jsonOutput: true }),
      signal,
      onUsage: tally.beginStep(),
    });
    tally.endStep(answer.usage);
    return answer;
  };
}

/** The request and as much of the data as fits, with the profiles of its tables. */
async function messageOf(
  { data, prompt }: { data: Data; prompt: string },
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<string> {
  const described = [];
  for (const fitted of fitSections(dataSections(data), maxBytes)) {
    const { rows } = fitted.section;
    described.push({ ...fitted, profile: rows ? await profileTable(rows(), signal) : undefined });
  }
  return analysisMessage(prompt, described);
}

/** Asks for JSON, and once more when the answer is none. Throws AI_CALL_FAILED when the second is none either. */
async function askForJson(ask: Ask, text: string): Promise<string> {
  const question: ModelMessage = { role: 'user', text };
  const first = await ask([question]);
  const read = jsonAnswer(first.text);
  if ('json' in read) return read.json;
  const repair = repairMessage(read.mistake, first.stopReason === 'length');
  const second = await ask([
    question,
    { role: 'assistant', text: first.text, toolCalls: [] },
    { role: 'user', text: repair },
  ]);
  const again = jsonAnswer(second.text);
  if ('json' in again) return again.json;
  const reason = second.stopReason === 'length' ? 'its answer was cut off at the length limit' : again.mistake;
  throw new AppError('AI_CALL_FAILED', `The AI model was asked for JSON twice and gave none that parses: ${reason}.`);
}

/** Has the default model analyse data; leaves exactly one usage row, whatever the number of calls. */
export async function analyze(
  ai: AiDependencies,
  ctx: RequestContext,
  body: RouteInput<typeof contract>['body'],
): Promise<RouteOutput<typeof contract>> {
  const resolved = ai.models.resolve(undefined, ctx.caller.tier);
  const { outputFormat: format = 'text' } = body;
  const { signal } = ctx;
  return meteredCalls(ai, {
    ctx,
    model: resolved.name,
    call: async (tally) => {
      const text = await messageOf(body, { maxBytes: ai.settings.AI_ANALYZE_MAX_BYTES, signal });
      const ask = askerOf({ resolved, format, signal, tally });
      const analysis = format === 'json' ? await askForJson(ask, text) : (await ask([{ role: 'user', text }])).text;
      return { analysis, model: resolved.name, usage: tally.total };
    },
  });
}

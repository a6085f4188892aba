import { generateText, type Ai } from '../../ai/index.ts';
import { StepError, type RunNode } from './node-type.ts';
import { optionalText, requiredText } from './read-config.ts';

const FORMATS = ['text', 'markdown', 'json'];

/** Throws StepError for a format that is none. */
export function outputFormatOf(config: Record<string, unknown>): string {
  const outputFormat = optionalText(config, 'outputFormat') ?? 'text';
  if (FORMATS.includes(outputFormat)) return outputFormat;
  throw new StepError(`config.outputFormat must be one of ${FORMATS.join(', ')}.`);
}

/** The JSON of an answer that may stand in a code fence. */
function parseAnswer(text: string): unknown {
  const fenced = /```(?:json)?\s*\n([\s\S]*?)```/.exec(text);
  try {
    return JSON.parse(fenced?.[1] ?? text);
  } catch {
    throw new StepError('The model was asked for JSON and answered something else.', text);
  }
}

/** {prompt, model?, systemPrompt?, outputFormat?}: the text that a model answers, parsed when outputFormat is json. */
export function createAiGenerate(ai: Ai): RunNode {
  return async (config, { ctx }) => {
    const outputFormat = outputFormatOf(config);
    const { text } = await generateText(ai, ctx, {
      prompt: requiredText(config, 'prompt'),
      model: optionalText(config, 'model'),
      systemPrompt: optionalText(config, 'systemPrompt'),
      jsonOutput: outputFormat === 'json',
    });
    return outputFormat === 'json' ? parseAnswer(text) : text;
  };
}

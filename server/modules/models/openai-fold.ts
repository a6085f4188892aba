import { assistantMessage, type OpenAiRaw } from './openai-request.ts';
import { ToolCallGatherer } from './openai-tool-calls.ts';
import { startProgress, type AnswerFold, type AnswerProgress } from './protocol.ts';
import type { ModelAnswer, StopReason } from './types.ts';
import { asArray, asCount, asObject, asText, isJsonObject, parseJson, type JsonObject } from './vendor-json.ts';

const STOP_REASONS = new Map<unknown, StopReason>([
  ['stop', 'stop'],
  ['tool_calls', 'tools'],
  ['function_call', 'tools'],
  ['length', 'length'],
  ['content_filter', 'refused'],
]);

/** Puts an answer of the OpenAI protocol together. Fields that it does not know are passed over. */
export class OpenAiFold implements AnswerFold {
  readonly progress: AnswerProgress = startProgress();
  readonly #toolCalls = new ToolCallGatherer();
  #text = '';
  #reasoning = '';
  #stopReason: StopReason = 'other';

  take(data: string): string {
    if (data === '') return '';
    if (data.trim() === '[DONE]') {
      this.progress.isComplete = true;
      this.progress.isWritten = true;
      return '';
    }
    const chunk = parseJson(data);
    if (chunk === undefined) this.progress.failure ??= 'it sent an event that is not JSON';
    return isJsonObject(chunk) ? this.#takeChunk(chunk, 'delta') : '';
  }

  /** Takes in an answer that came in one piece. */
  takeWhole(answer: JsonObject): this {
    this.#takeChunk(answer, 'message');
    const isAnswer = isJsonObject(asObject(asArray(answer['choices'])[0])['message']);
    this.progress.isComplete = this.progress.isWritten = isAnswer;
    return this;
  }

  #takeChunk(chunk: JsonObject, part: 'delta' | 'message'): string {
    if (chunk['error'] !== undefined && chunk['error'] !== null) this.#takeError(chunk['error']);
    if (isJsonObject(chunk['usage'])) this.#takeUsage(chunk['usage']);
    const choice = asArray(chunk['choices'])[0];
    if (!isJsonObject(choice)) return '';
    const text = this.#takeMessage(asObject(choice[part]));
    if (typeof choice['finish_reason'] === 'string' && choice['finish_reason'] !== '') {
      this.#stopReason = STOP_REASONS.get(choice['finish_reason']) ?? 'other';
      this.progress.isWritten = true;
    }
    return text;
  }

  #takeMessage(message: JsonObject): string {
    // A refusal is all the answer there is; without it the caller would get silence.
    const text = textOf(message['content']) + asText(message['refusal']);
    const reasoning = asText(message['reasoning_content']);
    this.#text += text;
    this.#reasoning += reasoning;
    this.progress.writtenLength += text.length + reasoning.length;
    if (message['tool_calls'] !== undefined) {
      this.progress.writtenLength += this.#toolCalls.take(message['tool_calls']);
    }
    return text;
  }

  #takeUsage(usage: JsonObject): void {
    this.progress.inputTokens = asCount(usage['prompt_tokens']) ?? this.progress.inputTokens;
    this.progress.outputTokens = asCount(usage['completion_tokens']) ?? this.progress.outputTokens;
  }

  #takeError(error: unknown): void {
    this.progress.failure ??= asText(error) || asText(asObject(error)['message']) || 'it reported an error';
  }

  answer(): Omit<ModelAnswer, 'usage'> {
    // Vendors that think ahead of a tool call want their thoughts back with it, under this name.
    const extras = this.#reasoning === '' ? {} : { reasoning_content: this.#reasoning };
    const [message] = assistantMessage(this.#text, this.#toolCalls.rawCalls(), extras);
    const raw: OpenAiRaw | undefined = message && { protocol: 'openai', message };
    return { text: this.#text, toolCalls: this.#toolCalls.calls(), stopReason: this.#stopReason, raw };
  }
}

/** Text of a content field: text itself, or a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return asArray(content)
    .map((part) => (typeof part === 'string' ? part : asText(asObject(part)['text'])))
    .join('');
}

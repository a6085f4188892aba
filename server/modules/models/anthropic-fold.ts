import { createCallId } from './call-id.ts';
import type { AnthropicRaw } from './anthropic-request.ts';
import { startProgress, type AnswerFold, type AnswerProgress } from './protocol.ts';
import type { ModelAnswer, StopReason, ToolCall } from './types.ts';
import { asArray, asCount, asObject, asText, isJsonObject, parseJson, readToolInput } from './vendor-json.ts';
import type { JsonObject } from './vendor-json.ts';

/** A content block under way. Text that grows is gathered in `written` and put into the block at the end. */
interface Block {
  content: JsonObject;
  /** The field that the deltas fill. */
  field: string;
  written: string;
}

/** Which delta fills which field of its block. */
const DELTA_FIELDS: Record<string, { field: string; source: string } | undefined> = {
  text_delta: { field: 'text', source: 'text' },
  thinking_delta: { field: 'thinking', source: 'thinking' },
  input_json_delta: { field: 'input', source: 'partial_json' },
  compaction_delta: { field: 'content', source: 'content' },
};

const STOP_REASONS = new Map<unknown, StopReason>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'tools'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'refused'],
]);

/** Parts of the input figure; each is reported again, possibly corrected, towards the end. */
const INPUT_PARTS = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'] as const;

/** Puts an Anthropic answer together. Events, blocks and deltas that it does not know are kept or passed over. */
export class AnthropicFold implements AnswerFold {
  readonly progress: AnswerProgress = startProgress();
  readonly #blocks = new Map<unknown, Block>();
  readonly #inputParts = new Map<string, number>();
  #stopReason: StopReason = 'other';

  take(data: string): string {
    if (data === '') return '';
    const event = parseJson(data);
    if (event === undefined) this.progress.failure ??= 'it sent an event that is not JSON';
    return isJsonObject(event) ? this.#takeEvent(event) : '';
  }

  #takeEvent(event: JsonObject): string {
    switch (event['type']) {
      case 'content_block_delta':
        return this.#takeDelta(event['index'], asObject(event['delta']));
      case 'content_block_start':
        return this.#startBlock(event['index'], asObject(event['content_block']));
      case 'message_start':
        this.#takeUsage(asObject(asObject(event['message'])['usage']));
        return '';
      case 'message_delta':
        this.#takeUsage(asObject(event['usage']));
        this.#takeStopReason(asObject(event['delta'])['stop_reason']);
        return '';
      case 'message_stop':
        this.progress.isComplete = true;
        this.progress.isWritten = true;
        return '';
      case 'error':
        this.progress.failure ??= asText(asObject(event['error'])['message']) || 'it reported an error';
        return '';
      default:
        return '';
    }
  }

  #takeStopReason(reason: unknown): void {
    if (typeof reason !== 'string') return;
    this.#stopReason = STOP_REASONS.get(reason) ?? 'other';
    this.progress.isWritten = true;
  }

  #startBlock(index: unknown, content: JsonObject): string {
    // A result could not be sent back under no id; servers that imitate the protocol leave it out.
    if (content['type'] === 'tool_use') content['id'] = asText(content['id']) || createCallId();
    const text = content['type'] === 'text' ? asText(content['text']) : '';
    this.#blocks.set(index, { content, field: '', written: '' });
    this.progress.writtenLength += text.length;
    return text;
  }

  #takeDelta(index: unknown, delta: JsonObject): string {
    const block = this.#blocks.get(index);
    const type = asText(delta['type']);
    if (!block) return '';
    const known = Object.hasOwn(DELTA_FIELDS, type) ? DELTA_FIELDS[type] : undefined;
    if (!known) {
      takeRareDelta(block.content, delta);
      return '';
    }
    const piece = asText(delta[known.source]);
    block.field = known.field;
    block.written += piece;
    this.progress.writtenLength += piece.length;
    return type === 'text_delta' ? piece : '';
  }

  #takeUsage(usage: JsonObject): void {
    for (const part of INPUT_PARTS) {
      const tokens = asCount(usage[part]);
      if (tokens === undefined) continue;
      this.#inputParts.set(part, tokens);
      this.progress.inputTokens = [...this.#inputParts.values()].reduce((sum, value) => sum + value, 0);
    }
    this.progress.outputTokens = asCount(usage['output_tokens']) ?? this.progress.outputTokens;
  }

  /** Takes in an answer that came in one piece. */
  takeWhole(message: JsonObject): this {
    if (message['type'] === 'error') this.#takeEvent(message);
    for (const [index, block] of asArray(message['content']).entries()) this.#startBlock(index, asObject(block));
    this.#takeUsage(asObject(message['usage']));
    this.#takeStopReason(message['stop_reason']);
    this.progress.isComplete = this.progress.isWritten = Array.isArray(message['content']);
    return this;
  }

  answer(): Omit<ModelAnswer, 'usage'> {
    const blocks = [...this.#blocks.values()];
    const content = blocks.map(finishBlock);
    const raw: AnthropicRaw = {
      protocol: 'anthropic',
      // The vendor writes empty text blocks, and refuses to have them back.
      content: content.filter((block) => block['type'] !== 'text' || block['text'] !== ''),
    };
    return {
      text: content.map((block) => (block['type'] === 'text' ? asText(block['text']) : '')).join(''),
      toolCalls: blocks.filter(({ content: { type } }) => type === 'tool_use').map(readToolCall),
      stopReason: this.#stopReason,
      raw,
    };
  }
}

/** Deltas that come once per block. One of an unknown kind is dropped: its block keeps what it started with. */
function takeRareDelta(content: JsonObject, delta: JsonObject): void {
  if (delta['type'] === 'signature_delta') content['signature'] = delta['signature'];
  if (delta['type'] === 'citations_delta') {
    const citations = asArray(content['citations']);
    citations.push(delta['citation']);
    content['citations'] = citations;
  }
}

/** The block as the vendor would have sent it in one piece. */
function finishBlock({ content, field, written }: Block): JsonObject {
  if (field === '' || written === '') return content;
  if (field === 'input') return { ...content, input: readToolInput(written).input };
  return { ...content, [field]: asText(content[field]) + written };
}

function readToolCall({ content, written }: Block): ToolCall {
  return {
    id: asText(content['id']),
    name: asText(content['name']),
    ...readToolInput(written === '' ? content['input'] : written),
  };
}

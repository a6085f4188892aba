import type { VendorRequest } from './protocol.ts';
import type { ModelMessage, ModelRequest } from './types.ts';
import { isJsonObject, type JsonObject } from './vendor-json.ts';

/** What Anthropic's protocol keeps in `raw`: the content blocks of an answer, as they came. */
export interface AnthropicRaw {
  protocol: 'anthropic';
  content: JsonObject[];
}

const JSON_ONLY = 'Answer with one JSON value and nothing else: no explanation, no code fence.';

function isAnthropicRaw(raw: unknown): raw is AnthropicRaw {
  return isJsonObject(raw) && raw['protocol'] === 'anthropic' && Array.isArray(raw['content']);
}

/** Content blocks of a message. The vendor refuses empty text and empty content, so neither is made. */
function contentOf(message: ModelMessage): JsonObject[] {
  if (message.role === 'user') return textBlocks(message.text);
  if (message.role === 'tool') {
    return message.results.map(({ callId, text, isError }) => ({
      type: 'tool_result',
      tool_use_id: callId,
      content: text,
      ...(isError && { is_error: true }),
    }));
  }
  if (isAnthropicRaw(message.raw)) return message.raw.content;
  return [
    ...textBlocks(message.text),
    ...message.toolCalls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
  ];
}

function textBlocks(text: string): JsonObject[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

/** Messages in the vendor's form: turns alternate, so neighbours of one role become one message. */
function messagesOf(messages: ModelMessage[]): JsonObject[] {
  const turns: { role: string; content: JsonObject[] }[] = [];
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = contentOf(message);
    const last = turns.at(-1);
    if (last?.role === role) last.content = [...last.content, ...content];
    else if (content.length > 0) turns.push({ role, content });
  }
  return turns.map((turn) => ({ ...turn }));
}

function systemOf(request: Pick<ModelRequest, 'system' | 'jsonOutput'>): string {
  return [request.system, request.jsonOutput ? JSON_ONLY : ''].filter((part) => part !== '').join('\n\n');
}

/** Body of POST /messages, after https://docs.anthropic.com/en/api/messages. */
export function anthropicBody({ upstream, maxOutputTokens, stream, request }: VendorRequest): JsonObject {
  const system = systemOf(request);
  return {
    model: upstream,
    max_tokens: maxOutputTokens,
    messages: messagesOf(request.messages),
    ...(system !== '' && { system }),
    ...(request.tools.length > 0 && {
      tools: request.tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        input_schema: inputSchema,
      })),
      tool_choice: { type: request.toolChoice },
    }),
    ...(stream && { stream: true }),
  };
}

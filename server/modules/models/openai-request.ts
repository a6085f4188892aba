import type { VendorRequest } from './protocol.ts';
import type { ModelMessage, ToolCall } from './types.ts';
import { isJsonObject, type JsonObject } from './vendor-json.ts';

/** What the OpenAI protocol keeps in `raw`: the assistant message, with the fields that a vendor has added to it. */
export interface OpenAiRaw {
  protocol: 'openai';
  message: JsonObject;
}

// The word JSON has to appear in the messages, or the vendor refuses the JSON mode.
const JSON_ONLY = 'Answer with one JSON object and nothing else: no explanation, no code fence.';

function isOpenAiRaw(raw: unknown): raw is OpenAiRaw {
  return isJsonObject(raw) && raw['protocol'] === 'openai' && isJsonObject(raw['message']);
}

/** An assistant message; none when there is nothing to say, which vendors refuse. */
export function assistantMessage(text: string, toolCalls: JsonObject[], extras: JsonObject = {}): JsonObject[] {
  if (text === '' && toolCalls.length === 0) return [];
  return [
    {
      role: 'assistant',
      ...extras,
      ...(text !== '' && { content: text }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    },
  ];
}

function toolCallOf({ id, name, input }: ToolCall): JsonObject {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
}

function messagesOf(message: ModelMessage): JsonObject[] {
  if (message.role === 'user') return [{ role: 'user', content: message.text }];
  if (message.role === 'tool') {
    return message.results.map(({ callId, text }) => ({ role: 'tool', tool_call_id: callId, content: text }));
  }
  if (isOpenAiRaw(message.raw)) return [message.raw.message];
  return assistantMessage(message.text, message.toolCalls.map(toolCallOf));
}

const OPENAI_ITSELF = /^https?:\/\/api\.openai\.com(?:[:/]|$)/i;

/** OpenAI's newer models refuse `max_tokens`, and the servers that imitate it know nothing else. */
function limitField(baseUrl: string): string {
  return OPENAI_ITSELF.test(baseUrl) ? 'max_completion_tokens' : 'max_tokens';
}

/** Body of POST /chat/completions, after https://platform.openai.com/docs/api-reference/chat/create. */
export function openAiBody({ upstream, maxOutputTokens, stream, baseUrl, request }: VendorRequest): JsonObject {
  const system = [request.system, request.jsonOutput ? JSON_ONLY : ''].filter((part) => part !== '').join('\n\n');
  return {
    model: upstream,
    [limitField(baseUrl)]: maxOutputTokens,
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...request.messages.flatMap((message) => messagesOf(message)),
    ],
    ...(request.tools.length > 0 && {
      tools: request.tools.map(({ name, description, inputSchema }) => ({
        type: 'function',
        function: { name, description, parameters: inputSchema },
      })),
      tool_choice: request.toolChoice,
    }),
    ...(request.jsonOutput && { response_format: { type: 'json_object' } }),
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
  };
}

import { createHash } from 'node:crypto';
import type { ModelMessage, ModelTool, ToolCall } from './types.ts';

/** What both vendors accept as the name of a tool. */
const VENDOR_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const HASH_LENGTH = 8;

/**
 * The name under which a vendor gets to know a tool. A name outside its alphabet, or too long, would make it refuse the
 * whole request: odd characters become `_`, and a piece of a hash keeps such names apart.
 */
function vendorToolName(name: string): string {
  if (VENDOR_NAME.test(name)) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_LENGTH);
  return `${name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64 - HASH_LENGTH - 1)}_${hash}`;
}

/** Tools as a vendor takes them: safe names, and schemas that say what they are schemas of. */
export function vendorTools(tools: ModelTool[]): ModelTool[] {
  return tools.map(({ name, description, inputSchema }) => ({
    name: vendorToolName(name),
    description,
    inputSchema: { type: 'object', properties: {}, ...inputSchema },
  }));
}

/** Messages with the names of tools as the vendor knows them. */
export function vendorMessages(messages: ModelMessage[]): ModelMessage[] {
  return messages.map((message) =>
    message.role === 'assistant'
      ? {
          ...message,
          toolCalls: message.toolCalls.map((call) => Object.assign({}, call, { name: vendorToolName(call.name) })),
        }
      : message,
  );
}

/** Calls under the names that the tools were offered with. A name that was not offered stays as the model wrote it. */
export function ownToolNames(calls: ToolCall[], tools: ModelTool[]): ToolCall[] {
  if (calls.length === 0) return calls;
  const ownNames = new Map(tools.map(({ name }) => [vendorToolName(name), name]));
  return calls.map((call) => Object.assign({}, call, { name: ownNames.get(call.name) ?? call.name }));
}

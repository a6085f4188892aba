import { AnthropicFold } from './anthropic-fold.ts';
import { anthropicBody } from './anthropic-request.ts';
import type { Protocol } from './protocol.ts';

/** Anthropic's Messages API, https://docs.anthropic.com/en/api/messages. */
export const anthropicMessages: Protocol = {
  path: '/messages',
  headers: (apiKey) => ({ 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }),
  body: anthropicBody,
  startFold: () => new AnthropicFold(),
  readWhole: (answer) => new AnthropicFold().takeWhole(answer),
};

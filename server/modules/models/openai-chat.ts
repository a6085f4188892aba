import { OpenAiFold } from './openai-fold.ts';
import { openAiBody } from './openai-request.ts';
import type { Protocol } from './protocol.ts';

/** OpenAI's Chat Completions API, https://platform.openai.com/docs/api-reference/chat, and whoever speaks it too. */
export const openAiChat: Protocol = {
  path: '/chat/completions',
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  body: openAiBody,
  startFold: () => new OpenAiFold(),
  readWhole: (answer) => new OpenAiFold().takeWhole(answer),
};

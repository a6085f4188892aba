import * as contract from '../../../contract/routes/ai.ts';
import type { ChatBody, ChatStreamEvent } from '../../../contract/routes/ai.ts';
import { AppError } from '../../platform/errors/index.ts';
import { implement, implementStream, type RequestContext, type Route } from '../../platform/http/index.ts';
import type { TextFragment } from '../models/index.ts';
import type { Ai } from './ai.ts';
import { analyze } from './analyze/analyze.ts';
import { callTool } from './call-tool.ts';
import { prepareChat, runChat, type ChatResult } from './chat.ts';

async function chatWhole(ai: Ai, ctx: RequestContext, body: ChatBody): Promise<ChatResult> {
  const chat = runChat(ai, await prepareChat(ai, ctx, body), 'whole');
  for (;;) {
    const step = await chat.next();
    if (step.done) return step.value;
  }
}

/** The last event of a chat that failed. A fault of ours is logged by whoever meets it, and not described. */
function errorEvent(ai: Ai, ctx: RequestContext, error: unknown): ChatStreamEvent {
  if (error instanceof AppError) return { type: 'error', message: error.message };
  ai.log.error({ requestId: ctx.requestId, err: error }, 'a streamed chat failed');
  return { type: 'error', message: `The service failed to answer; the request is ${ctx.requestId}.` };
}

interface StreamedChat {
  ai: Ai;
  ctx: RequestContext;
  chat: AsyncGenerator<TextFragment, ChatResult>;
}

/** A chat in the wire form of the stream: fragments, then `done` or `error`. */
async function* chatEvents({ ai, ctx, chat }: StreamedChat): AsyncGenerator<ChatStreamEvent, void> {
  try {
    for (;;) {
      const step = await chat.next();
      if (step.done) {
        const { inputTokens, outputTokens } = step.value.usage;
        yield { type: 'done', usage: { input_tokens: inputTokens, output_tokens: outputTokens } };
        return;
      }
      yield { type: 'stream', text: step.value.text };
    }
  } catch (error) {
    yield errorEvent(ai, ctx, error);
  } finally {
    await chat.return({ text: '', model: '', usage: { inputTokens: 0, outputTokens: 0 } });
  }
}

export function aiRoutes(ai: Ai): Route[] {
  return [
    implement(contract.chat, async (ctx, { body }) => {
      const { text, model, usage } = await chatWhole(ai, ctx, body);
      return { response: text, model, usage };
    }),
    implementStream(contract.chatStream, async (ctx, { body }) => {
      const prepared = await prepareChat(ai, ctx, body);
      return chatEvents({ ai, ctx, chat: runChat(ai, prepared, 'streaming') });
    }),
    implement(contract.toolCall, async (ctx, { body }) => ({
      status: 'success' as const,
      result: await callTool(ai.tools, ctx, { tool: body.tool, input: body.input ?? {} }),
    })),
    implement(contract.analyze, (ctx, { body }) => analyze(ai, ctx, body)),
  ];
}

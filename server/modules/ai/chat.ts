import type { ChatBody } from '../../../contract/routes/ai.ts';
import type { RequestContext } from '../../platform/http/index.ts';
import { createId } from '../../platform/ids/index.ts';
import type { ModelMessage, ModelUsage, ResolvedModel, TextFragment } from '../models/index.ts';
import type { AiDependencies } from './ai.ts';
import { latestTurns, type ChatEnding, type Turn } from './chat.store.ts';
import { DEFAULT_SYSTEM_PROMPT } from './default-system-prompt.ts';
import { askStreaming, askWhole, runToolLoop, type CallOutcome } from './tool-loop.ts';
import type { WeightedText } from './tool-ranking.ts';
import { chooseTools, type ToolSet } from './tool-set.ts';
import { UsageTally } from './usage-tally.ts';

/** How much of a conversation the model is shown again. */
const HISTORY_TURNS = 40;
const HISTORY_LENGTH = 200_000;
/** Characters of each message, and messages before the present one, that tools are chosen by. */
const CHOICE_LENGTH = 4000;
const EARLIER_MESSAGES = 2;
const EARLIER_WEIGHT = 0.3;

export interface ChatResult {
  text: string;
  model: string;
  usage: ModelUsage;
}

/** A chat that passed every check and can begin. */
interface PreparedChat {
  ctx: RequestContext;
  body: ChatBody;
  resolved: ResolvedModel;
  tools: ToolSet;
  /** Of the packs of the app; empty when there is none. */
  knowledge: string;
  history: Turn[];
  startedAtMs: number;
}

export type ChatMode = 'whole' | 'streaming';

/** Drops the oldest turns until what is left fits, and never begins with an answer. */
function fitHistory(turns: Turn[]): Turn[] {
  let length = 0;
  const fitting = turns.toReversed().filter((turn) => (length += turn.content.length) <= HISTORY_LENGTH);
  const kept = fitting.toReversed();
  return kept[0]?.role === 'assistant' ? kept.slice(1) : kept;
}

function messagesOf({ history, body }: PreparedChat): ModelMessage[] {
  const earlier = history.map(({ role, content }): ModelMessage =>
    role === 'user' ? { role, text: content } : { role, text: content, toolCalls: [] },
  );
  return [...earlier, { role: 'user', text: body.message }];
}

/** What tools are chosen for: the message, and what the user said just before, which it may only refer to. */
function textsOf(message: string, history: readonly Turn[]): WeightedText[] {
  const earlier = history.filter(({ role }) => role === 'user').slice(-EARLIER_MESSAGES);
  return [
    { text: message.slice(0, CHOICE_LENGTH), weight: 1 },
    ...earlier.map(({ content }) => ({ text: content.slice(0, CHOICE_LENGTH), weight: EARLIER_WEIGHT })),
  ];
}

/** Checks everything that can refuse a chat before it costs anything, and gathers what it needs. */
export async function prepareChat(ai: AiDependencies, ctx: RequestContext, body: ChatBody): Promise<PreparedChat> {
  const startedAtMs = Date.now();
  const { developerId, tier } = ctx.caller;
  const resolved = ai.models.resolve(body.model, tier);
  const context = await ai.apps.contextOf(developerId, body.appContext);
  const { conversationId } = body;
  const history =
    conversationId === undefined
      ? []
      : fitHistory(await latestTurns(ai.database, { developerId, conversationId }, HISTORY_TURNS));
  const tools = chooseTools(ai.tools, context.tools, {
    developerId,
    extraTools: body.tools,
    choice: { above: ai.settings.AI_TOOL_CHOICE_ABOVE, size: ai.settings.AI_TOOL_CHOICE_SIZE },
    texts: textsOf(body.message, history),
  });
  return { ctx, body, resolved, tools, knowledge: context.knowledge, history, startedAtMs };
}

function outcomeText(result: unknown): string {
  return typeof result === 'string' ? result : JSON.stringify(result);
}

/** What the caller says, or the default, and then what the app's packs know. */
function systemOf({ body, knowledge }: PreparedChat): string {
  const prompt = body.systemPrompt ?? DEFAULT_SYSTEM_PROMPT;
  return knowledge === '' ? prompt : `${prompt}\n\n${knowledge}`;
}

function loopOf(ai: AiDependencies, chat: PreparedChat, tally: UsageTally) {
  const { ctx, resolved, tools } = chat;
  return {
    request: {
      model: resolved.upstream,
      system: systemOf(chat),
      messages: messagesOf(chat),
      tools: tools.offered,
      signal: ctx.signal,
    },
    byName: tools.byName,
    tally,
    callTool: async (...[definition, input]: Parameters<Parameters<typeof runToolLoop>[0]['callTool']>) => {
      const outcome = await ai.tools.invoke(ctx, { definition, input });
      return outcome.status === 'success'
        ? ({ text: outcomeText(outcome.result), isError: false } satisfies CallOutcome)
        : ({ text: outcome.error, isError: true } satisfies CallOutcome);
    },
  };
}

function endingOf(chat: PreparedChat, tally: UsageTally, end: { outcome: Outcome; text: string }): ChatEnding {
  const { ctx, body, resolved, startedAtMs } = chat;
  const { conversationId } = body;
  const isKept = end.outcome === 'finished' && conversationId !== undefined;
  return {
    developerId: ctx.caller.developerId,
    usage: {
      id: createId('use'),
      keyId: ctx.caller.keyId,
      requestId: ctx.requestId,
      model: resolved.name,
      outcome: end.outcome,
      ...tally.total,
      steps: tally.steps,
      startedAt: new Date(startedAtMs).toISOString(),
      durationMs: Date.now() - startedAtMs,
    },
    eventId: createId('evt'),
    turns: isKept ? turnsOf(conversationId, body.message, end.text) : [],
  };
}

/** Question and answer of one chat. The order within a conversation is the order of ids, so the pair shares one. */
function turnsOf(conversationId: string, question: string, reply: string): ChatEnding['turns'] {
  const id = createId('turn');
  return [
    { conversationId, id: `${id}.0`, role: 'user', content: question },
    { conversationId, id: `${id}.1`, role: 'assistant', content: reply },
  ];
}

type Outcome = ChatEnding['usage']['outcome'];

/**
 * Runs a prepared chat. Yields text as it comes and returns the whole. However it ends (answered, failed, the
 * client gone) exactly one usage row is left; a conversation's turns are on disk before the result is returned.
 */
export async function* runChat(
  ai: AiDependencies,
  chat: PreparedChat,
  mode: ChatMode,
): AsyncGenerator<TextFragment, ChatResult> {
  const tally = new UsageTally();
  const ask = mode === 'whole' ? askWhole : askStreaming;
  let outcome: Outcome = 'abandoned';
  let text = '';
  try {
    text = yield* runToolLoop({
      ...loopOf(ai, chat, tally),
      askModel: (request) => ask(chat.resolved.model, request),
    });
    outcome = 'finished';
  } catch (error) {
    if (!chat.ctx.signal.aborted) outcome = 'failed';
    throw error;
  } finally {
    const ending = endingOf(chat, tally, { outcome, text });
    if (ending.turns.length > 0) await ai.ledger.commit(ending);
    else ai.ledger.enqueue(ending);
  }
  return { text, model: chat.resolved.name, usage: tally.total };
}

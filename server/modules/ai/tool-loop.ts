import type {
  Model,
  ModelAnswer,
  ModelMessage,
  ModelRequest,
  TextFragment,
  ToolCall,
  ToolResult,
} from '../models/index.ts';
import type { ToolDefinition } from '../tools/index.ts';
import type { UsageTally } from './usage-tally.ts';

/** A model that still calls tools after so many steps has to answer with what it has. */
const MAX_STEPS = 20;

/** Calls of one step that run at the same time. */
const MAX_PARALLEL_CALLS = 8;

/** Characters of a tool's result that the model is shown. */
const MAX_RESULT_LENGTH = 200_000;

export interface CallOutcome {
  text: string;
  isError: boolean;
}

export interface ToolLoop {
  /** Asks the model once; yields text as it comes where the mode is streaming. */
  askModel: (request: ModelRequest) => AsyncGenerator<TextFragment, ModelAnswer>;
  /** The first request; its messages are extended by the loop. */
  request: Omit<ModelRequest, 'toolChoice' | 'onUsage'>;
  callTool: (definition: ToolDefinition, input: Record<string, unknown>) => Promise<CallOutcome>;
  byName: ReadonlyMap<string, ToolDefinition>;
  tally: UsageTally;
}

/** Asks for the whole answer at once: nothing comes before it. */
// oxlint-disable-next-line require-yield -- it has the form of a stream, so that the loop needs no second path
export async function* askWhole(model: Model, request: ModelRequest): AsyncGenerator<TextFragment, ModelAnswer> {
  return model.generate(request);
}

/** Asks for the answer in fragments. */
export function askStreaming(model: Model, request: ModelRequest): AsyncGenerator<TextFragment, ModelAnswer> {
  return model.stream(request);
}

/**
 * Lets the model call tools until it answers. Yields text as it comes; returns the text of the last step that had
 * any. Usage is added to the tally step by step, so that it is known whenever the loop ends early.
 */
export async function* runToolLoop(loop: ToolLoop): AsyncGenerator<TextFragment, string> {
  const messages: ModelMessage[] = [...loop.request.messages];
  let text = '';
  for (let step = 1; ; step++) {
    const isLast = step === MAX_STEPS;
    const onUsage = loop.tally.beginStep();
    const toolChoice = isLast ? 'none' : 'auto';
    const answer = yield* loop.askModel({ ...loop.request, messages, toolChoice, onUsage });
    loop.tally.endStep(answer.usage);
    text = answer.text === '' ? text : answer.text;
    if (answer.toolCalls.length === 0 || isLast) return text;
    messages.push({ role: 'assistant', text: answer.text, toolCalls: answer.toolCalls, raw: answer.raw });
    messages.push({ role: 'tool', results: await callAll(loop, answer.toolCalls) });
  }
}

/** Runs the calls of one step, a few at a time, and keeps their order. */
async function callAll(loop: ToolLoop, calls: readonly ToolCall[]): Promise<ToolResult[]> {
  const results: ToolResult[] = [];
  for (let start = 0; start < calls.length; start += MAX_PARALLEL_CALLS) {
    const group = calls.slice(start, start + MAX_PARALLEL_CALLS);
    const outcomes = await Promise.all(group.map((call) => resultOf(loop, call)));
    results.push(...outcomes);
  }
  return results;
}

async function resultOf(loop: ToolLoop, call: ToolCall): Promise<ToolResult> {
  return { callId: call.id, name: call.name, ...(await callOne(loop, call)) };
}

async function callOne(loop: ToolLoop, call: ToolCall): Promise<CallOutcome> {
  const definition = loop.byName.get(call.name);
  if (!definition) return { text: `There is no tool named "${call.name}".`, isError: true };
  if (call.invalidInput !== undefined) return { text: 'The arguments are not a JSON object.', isError: true };
  const { text, isError } = await loop.callTool(definition, call.input);
  if (text.length <= MAX_RESULT_LENGTH) return { text, isError };
  const note = `\n[cut: ${text.length - MAX_RESULT_LENGTH} of ${text.length} characters left out]`;
  return { text: text.slice(0, MAX_RESULT_LENGTH) + note, isError };
}

import type { ChatBody } from '../../../contract/routes/ai.ts';
import { AppError } from '../../platform/errors/index.ts';
import type { ModelTool } from '../models/index.ts';
import type { ToolDefinition, Tools } from '../tools/index.ts';
import { ToolRanking, type WeightedText } from './tool-ranking.ts';

/** The tools of one chat. */
export interface ToolSet {
  offered: ModelTool[];
  /** Those that were offered. */
  byName: ReadonlyMap<string, ToolDefinition>;
}

/** From how many tools on a chat is offered a choice of them, and how many. */
interface ToolChoice {
  above: number;
  size: number;
}

function refuseDuplicates(extra: readonly ToolDefinition[]): void {
  const seen = new Set<string>();
  for (const [index, { name }] of extra.entries()) {
    if (seen.has(name)) throw new AppError('INVALID_REQUEST', `tools[${index}].name "${name}" is given twice.`);
    seen.add(name);
  }
}

/** A later definition hides an earlier one of the same name. */
function toolSetOf(definitions: readonly ToolDefinition[]): ToolSet {
  const byName = new Map(definitions.map((definition) => [definition.name, definition]));
  const offered = Array.from(byName.values(), ({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
  }));
  return { offered, byName };
}

/** Keeps what is made of a list by the list: it stays the same until a tool changes. */
function keptByList<T>(make: (definitions: readonly ToolDefinition[]) => T) {
  const made = new WeakMap<readonly ToolDefinition[], { of: T }>();
  return (definitions: readonly ToolDefinition[]): T => {
    const known = made.get(definitions);
    if (known) return known.of;
    const of = make(definitions);
    made.set(definitions, { of });
    return of;
  };
}

const setOf = keptByList(toolSetOf);
const rankingOf = keptByList((definitions) => new ToolRanking(definitions));

/** The request's own tools come first; registered ones fill what is left. */
function bestOf(
  lists: { registered: readonly ToolDefinition[]; extra: readonly ToolDefinition[] },
  size: number,
  texts: readonly WeightedText[],
): ToolDefinition[] {
  const { registered, extra } = lists;
  const own = extra.length > size ? new ToolRanking(extra).best(size, texts) : extra;
  const hidden = new Set(own.map(({ name }) => name));
  return [...rankingOf(registered).best(size - own.length, texts, hidden), ...own];
}

export interface ToolChoiceRequest {
  developerId: string;
  /** What the request brings along. */
  extraTools: ChatBody['tools'];
  choice: ToolChoice;
  texts: readonly WeightedText[];
}

/**
 * The registered tools that the context of the request selects, and the request's own. Where they are too many for a
 * model, those whose names and descriptions fit best what was said.
 */
export function chooseTools(
  tools: Tools,
  registered: readonly ToolDefinition[],
  { developerId, extraTools = [], choice, texts }: ToolChoiceRequest,
): ToolSet {
  const extra = extraTools.map((tool, index) => tools.definitionOf(developerId, tool, `tools[${index}]`));
  refuseDuplicates(extra);
  if (registered.length + extra.length > choice.above) {
    return toolSetOf(bestOf({ registered, extra }, choice.size, texts));
  }
  return extra.length === 0 ? setOf(registered) : toolSetOf([...registered, ...extra]);
}

import type { ChatBody } from '../../../contract/routes/ai.ts';
import { AppError } from '../../platform/errors/index.ts';
import type { ModelTool } from '../models/index.ts';
import type { ToolDefinition, Tools } from '../tools/index.ts';

/** The tools of one chat. */
export interface ToolSet {
  offered: ModelTool[];
  byName: ReadonlyMap<string, ToolDefinition>;
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

/** Sets already built, by the list they were built from: that list stays the same until a tool changes. */
const built = new WeakMap<readonly ToolDefinition[], ToolSet>();

function registeredSet(definitions: readonly ToolDefinition[]): ToolSet {
  const known = built.get(definitions);
  if (known) return known;
  const set = toolSetOf(definitions);
  built.set(definitions, set);
  return set;
}

/** The registered tools that the context of the request selects, and the request's own. */
export function chooseTools(
  tools: Tools,
  registered: readonly ToolDefinition[],
  { developerId, extraTools }: { developerId: string; extraTools: ChatBody['tools'] },
): ToolSet {
  if (extraTools === undefined || extraTools.length === 0) return registeredSet(registered);
  const extra = extraTools.map((tool, index) => tools.definitionOf(developerId, tool, `tools[${index}]`));
  refuseDuplicates(extra);
  return toolSetOf([...registered, ...extra]);
}

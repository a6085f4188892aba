/** One sentence on each group of operations, in the order of the reference page. */
const TAG_SENTENCES: Record<string, string> = {
  Keys: 'API keys of the calling developer, and what they have used up.',
  Tools: 'Functions that the AI may call: an HTTP request or a handler on a desktop agent.',
  Agents: 'Desktop agents: programs on machines of the developer that run handler tools.',
  'Tool packs': 'Named sets of tools with the knowledge that goes with them.',
  Graph: 'Knowledge graphs of named, typed nodes and the relations between them.',
  Knowledge: 'Knowledge bases: documents that are found by words and by meaning.',
  Apps: 'Business applications that own tools, packs and a service address, as draft or published.',
  Marketplace: 'Published apps of all developers, and their installations.',
  Workflows: 'Automations of nodes and edges, started by hand, by a schedule or by an event, and their runs.',
  AI: 'Questions to a model that may call tools, analyses of data, and direct calls of a tool.',
  Events: 'Webhook subscriptions to events of the platform, and the log of API calls.',
  Administration: 'Developers of this installation; only admin keys of the first developer may.',
};

/** Tags of the document in their order; one without a sentence comes last. */
export function describeTags(used: Iterable<string>): { name: string; description?: string }[] {
  const names = new Set(used);
  const known = Object.entries(TAG_SENTENCES).filter(([name]) => names.has(name));
  const unknown = [...names].filter((name) => TAG_SENTENCES[name] === undefined);
  return [...known.map(([name, description]) => ({ name, description })), ...unknown.map((name) => ({ name }))];
}

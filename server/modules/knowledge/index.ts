// Knowledge bases: documents in passages, found by words and by meaning.
// Used by app (routes, jobs, settings) and ai (chats that look up passages).
// Must not know of tools, workflows or chats.
export { createEmbedder } from './embedders/create-embedder.ts';
export { createKnowledge, type Knowledge } from './knowledge.ts';
export { knowledgeRoutes } from './knowledge.routes.ts';
export { knowledgeSettings, readKnowledgeSettings } from './knowledge.settings.ts';

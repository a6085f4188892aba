// AI: chat with a tool loop, answered whole or streamed, and direct tool calls.
// Used by app; workflows will ask it for single generations.
// Must not know vendors' wire formats (models) nor how a tool is run (tools).
export { createAi, type Ai } from './ai.ts';
export { aiRoutes } from './ai.routes.ts';

// AI: chat with a tool loop, answered whole or streamed, analysis of data, and direct tool calls.
// Used by app, and by workflows for single generations.
// Must not know vendors' wire formats (models) nor how a tool is run (tools).
export { createAi, type Ai } from './ai.ts';
export { aiRoutes } from './ai.routes.ts';
export { aiSettings } from './ai.settings.ts';
export { generateText } from './generate-text.ts';

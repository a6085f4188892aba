// Registered tools, and the one gate in front of every call of one.
// Used by ai (chat, tool-call), by workflows and by app.
// Must not know who asks for a call, nor what a model is.
export { createTools, type Tools } from './tools.ts';
export { toolRoutes } from './tools.routes.ts';
export { credentialsIn } from './credentials.ts';
export type { ToolBinding, ToolDefinition } from './tool-definition.ts';
export { readContent } from './read-answer.ts';

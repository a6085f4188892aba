// Language models of any vendor behind one interface of two methods, with their queue, retries and metering.
// Used by ai (chat, analysis), workflows (through ai) and knowledge; built by app from the settings.
// Must not know of conversations, of how tools run, or of who pays.
export { createModels, type Models, type ResolvedModel } from './create-models.ts';
export { modelSettings, readModelSettings } from './models.settings.ts';
export type {
  Model,
  ModelAnswer,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ModelUsage,
  TextFragment,
  ToolCall,
  ToolResult,
} from './types.ts';
export { redactMessage } from './vendor-failure.ts';

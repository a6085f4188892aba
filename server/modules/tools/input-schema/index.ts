// JSON Schema (draft 2020-12 and 7) for the inputs of tools, at a bounded cost for any schema and any input.
// Used by the gate and by whatever registers a tool.
// Must not know what a tool is.
export { inputValidator } from './input-validator.ts';

// Events and the log of API calls.
// Used by app, which hands `recordCall` to the HTTP pipeline.
// Must not know which module causes an event or serves a call.
export { createCallLog, type CallLog } from './call-log.ts';
export { callLogRoutes } from './call-log.routes.ts';

// Events: subscriptions and their deliveries, alerts, and the log of API calls.
// Used by app, which hands `recordCall` to the HTTP pipeline.
// Must not know which module causes an event or serves a call.
export { createCallLog, type CallLog } from './call-log.ts';
export { createAlertListener, raiseDailyLimits } from './alerts/index.ts';
export { createFanOut } from './deliveries/fan-out.ts';
export { createSender } from './deliveries/send-message.ts';
export { startCourier } from './deliveries/courier.ts';
export { callLogRoutes } from './call-log.routes.ts';
export { eventRoutes } from './events.routes.ts';
export type { EventParts } from './event-parts.ts';
export { pruningTask } from './pruning/pruning-task.ts';
export { eventTables } from './subscriptions/sealed-tables.store.ts';
export { eventSettings } from './events.settings.ts';

// Events on their way out: written in the transaction of the change, handed over exactly once afterwards.
// Used by modules that publish; the relay is run by app, which names the listeners.
// Must not know what an event means or who subscribes.
export { type NewEvent, type OutboxEvent } from './event.ts';
export { publishEvents } from './publish-events.ts';
export { createEventRecorder } from './event-recorder.ts';
export { deleteDispatched } from './delete-dispatched.ts';
export { createOutboxRelay, type EventListener, type OutboxRelay } from './outbox-relay.ts';
export { matchesFilter } from './matches-filter.ts';

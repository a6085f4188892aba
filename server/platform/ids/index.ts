// Identifiers: made in time order so that index pages stay together, told apart by a prefix.
// Used by every module that creates records.
// Must not know what a record is.
export { createId, firstIdAt, isId, timeOfId } from './create-id.ts';

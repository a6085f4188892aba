// Bodies: bytes to a JSON value that later stages can bear, and the check of a value against a schema of the contract.
// Used by http for every request, and by modules that read large bodies in a thread of their own.
// Must not know of requests; light to load, since a thread loads it each time.
export { parseJsonBody } from './json-body.ts';
export { compileValidator } from './validation.ts';

// The one error type that crosses rooms, and helpers to read foreign errors.
// Used by everything that refuses a request; translated to HTTP by platform/http alone.
// Must not know of routes, headers or modules.
export { AppError } from './app-error.ts';
export { errorMessage } from './error-message.ts';

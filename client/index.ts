// A typed client of the API, for Node and browsers: a method for each endpoint, typed by its contract.
// Used by other programs.
// Must not know anything but the contract.
export { createClient, type ClientOptions, type TesseraClient } from './create-client.ts';
export { TesseraError } from './tessera-error.ts';

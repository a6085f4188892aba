// The PostgreSQL that comes with the service: binaries from npm, one cluster in the data folder, one service at a time.
// Used by app, when DATABASE_URL is absent, and by the tests.
// Must not know what is stored.
export { findEmbedded, startEmbedded, type EmbeddedOptions, type EmbeddedPostgres } from './start-embedded.ts';

// PostgreSQL: the pool, transactions, migrations, news of changes, caches that follow them, batched writes.
// Used by every store; opened and closed by app.
// Must not know any table but its own schema_migrations.
export { Transaction, prepared, type Queryable, type QueryOutcome, type Statement } from './queryable.ts';
export { openDatabase, type Database, type DatabaseOptions } from './open-database.ts';
export { isDatabaseAway, isUniqueViolation } from './database-error.ts';
export { migrate, withSessionLock } from './migrate.ts';
export { storableJson } from './storable-json.ts';
export { createChangeFeed, notifyChange, type ChangeFeed } from './change-feed.ts';
export { createInvalidatedCache, type InvalidatedCache, type InvalidatedCacheOptions } from './invalidated-cache.ts';
export { createGroupWriter, type GroupWriter, type GroupWriterOptions } from './group-writer.ts';
export { Listener, type ListenerOptions } from './listener.ts';
export { startEmbedded, type EmbeddedOptions, type EmbeddedPostgres } from './embedded/index.ts';
export { dbSettings } from './db.settings.ts';

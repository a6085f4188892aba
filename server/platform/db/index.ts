// PostgreSQL: the pool, transactions, migrations, news of changes, caches that follow them, batched writes.
// Used by every store; opened and closed by app.
// Must not know any table but its own schema_migrations.
export { Transaction, prepared, type Queryable } from './queryable.ts';
export { openDatabase, type Database } from './open-database.ts';
export { isDatabaseAway, isUniqueViolation } from './database-error.ts';
export { migrate, withSessionLock } from './migrate.ts';
export { textColumn, valueColumn } from './columns.ts';
export { storableJson } from './storable-json.ts';
export { createChangeFeed, notifyChange, type ChangeFeed } from './change-feed.ts';
export { createInvalidatedCache, type InvalidatedCache } from './invalidated-cache.ts';
export { createGroupWriter } from './group-writer.ts';
export { Listener } from './listener.ts';
export { findEmbedded, startEmbedded, type EmbeddedPostgres } from './embedded/index.ts';
export { dbSettings } from './db.settings.ts';

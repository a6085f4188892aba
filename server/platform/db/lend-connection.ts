import type { Pool, PoolClient } from 'pg';
import { breaksConnection, translateError } from './database-error.ts';

/** A connection that had broken unnoticed before anything was done on it, so that another may be tried. */
export class StaleConnection extends Error {}

/** Lends a connection; one that broke is closed instead of given back. */
async function lend<T>(pool: Pool, use: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let isBroken = false;
  try {
    return await use(client);
  } catch (error) {
    isBroken = error instanceof StaleConnection || breaksConnection(error);
    throw error;
  } finally {
    client.release(isBroken);
  }
}

/** Lends connections until one is found that works: after a restart of the server all idle ones are stale. */
export async function withClient<T>(pool: Pool, use: (client: PoolClient) => Promise<T>): Promise<T> {
  for (let left = pool.options.max; ; left--) {
    try {
      return await lend(pool, use);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw translateError(error);
      if (left === 0) throw translateError(error.cause);
    }
  }
}

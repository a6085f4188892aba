/** Settings of the embedded server, for a small machine that must not lose what it acknowledged. */
const SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '100',
  shared_buffers: '128MB',
  // One process less per I/O worker; the data of a small machine is in the cache of the system.
  io_method: 'sync',
  effective_cache_size: '512MB',
  random_page_cost: '1.1',
  // Compiling short statements costs more than it saves.
  jit: 'off',
  wal_compression: 'on',
  max_wal_size: '1GB',
  checkpoint_timeout: '15min',
  autovacuum_naptime: '30s',
  log_checkpoints: 'off',
  log_line_prefix: '%m [%p] ',
  timezone: 'UTC',
  log_timezone: 'UTC',
  cluster_name: 'tessera',
};

/** Arguments that start a server on a cluster, listening on a socket in one folder and nowhere else. */
export function serverArgs(cluster: string, socketFolder: string): string[] {
  const settings = { ...SETTINGS, unix_socket_directories: `"${socketFolder.replaceAll('"', '""')}"` };
  return ['-D', cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/** The environment that server programs get: nothing of ours, and messages in English. */
export const SERVER_ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

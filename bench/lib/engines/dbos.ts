import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installPeer } from '../install-peer.ts';
import { timed, times, type Engine } from './engine.ts';

/** What is used of @dbos-inc/dbos-sdk. */
interface Dbos {
  setConfig: (config: object) => void;
  registerWorkflow: (body: () => Promise<void>, options: { name: string }) => () => Promise<void>;
  runStep: (body: () => Promise<boolean>, options: { name: string }) => Promise<boolean>;
  launch: () => Promise<void>;
  shutdown: () => Promise<void>;
}

/** Safe because the version is pinned, and these are functions of it. */
function asDbos(exports: unknown): Dbos {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return (exports as { DBOS: Dbos }).DBOS;
}

const isOne = (): Promise<boolean> => Promise.resolve(true);

/** DBOS Transact on the same PostgreSQL, called in this process: without HTTP between the caller and the engine. */
export async function startDbos(databaseUrl: string, concurrency: number): Promise<Engine> {
  const folder = await installPeer('dbos', ['@dbos-inc/dbos-sdk@5.3.0']);
  const dbos = asDbos(createRequire(join(folder, 'x.js'))('@dbos-inc/dbos-sdk'));
  dbos.setConfig({
    name: 'bench',
    systemDatabaseUrl: databaseUrl,
    systemDatabasePoolSize: concurrency,
    systemDatabaseSchemaName: 'bench_dbos',
    logLevel: 'error',
    runAdminServer: false,
  });
  const threeSteps = dbos.registerWorkflow(
    async () => {
      for (const name of ['a', 'b', 'c']) await dbos.runStep(isOne, { name });
    },
    { name: 'threeSteps' },
  );
  await dbos.launch();
  return {
    name: 'DBOS',
    one: () => timed(threeSteps),
    all: (runs, callers) => times(runs, callers, threeSteps),
    stop: () => dbos.shutdown(),
  };
}

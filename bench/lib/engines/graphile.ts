import { Logger, makeWorkerUtils, run, type TaskList } from 'graphile-worker';
import { Pool } from 'pg';
import { timed, times, type Engine } from './engine.ts';

const SCHEMA = 'bench_worker';

/** Three jobs of graphile-worker of which each queues the next one, in this process. */
export async function startGraphile(databaseUrl: string, concurrency: number): Promise<Engine> {
  const pgPool = new Pool({ connectionString: databaseUrl, max: concurrency + 4 });
  pgPool.on('error', () => undefined);
  const logger = new Logger(() => () => undefined);
  const utils = await makeWorkerUtils({ pgPool, schema: SCHEMA, logger });
  await utils.migrate();
  let ended = 0;
  let onEnd: (() => void) | undefined;
  const taskList: TaskList = {
    a: (_payload, { addJob }) => addJob('b', {}).then(() => undefined),
    b: (_payload, { addJob }) => addJob('c', {}).then(() => undefined),
    c: () => {
      ended++;
      onEnd?.();
    },
  };
  const runner = await run({ pgPool, schema: SCHEMA, taskList, concurrency, logger, noHandleSignals: true });
  const untilEnded = (count: number): Promise<void> => {
    const target = ended + count;
    const { promise, resolve } = Promise.withResolvers<void>();
    onEnd = () => ended === target && resolve();
    return promise;
  };
  return {
    name: 'graphile-worker',
    one: () =>
      timed(async () => {
        const done = untilEnded(1);
        await utils.addJob('a', {});
        await done;
      }),
    all: async (runs, callers) => {
      const done = untilEnded(runs);
      await times(runs, callers, () => utils.addJob('a', {}));
      await done;
    },
    stop: async () => {
      await runner.stop();
      await utils.release();
      await pgPool.end();
    },
  };
}

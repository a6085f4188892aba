import { prepared, storableJson, type Transaction } from '../db/index.ts';

export interface NewJob {
  /** Name of the task that does it. */
  task: string;
  /** Anything JSON can say; characters that PostgreSQL cannot hold become U+FFFD. */
  payload: unknown;
  /** A waiting job with the same key is replaced; one that is running is left, and the new one runs afterwards. */
  key?: string;
  /** Not before this moment. */
  runAt?: Date;
  /** How often it is tried before it is given up; 25 when absent. */
  maxAttempts?: number;
  /** Jobs of one queue run one after the other, in every process together. Few, fixed names. */
  queueName?: string;
}

const addJobs = prepared(`select count(*) from graphile_worker.add_jobs(array(
  select (task, payload, "queueName", "runAt", "maxAttempts", key, 0, null)::graphile_worker.job_spec
  from json_to_recordset($1) as j (task text, payload json, key text, "runAt" timestamptz, "maxAttempts" smallint,
    "queueName" text)))`);

/** Of jobs with the same key the last counts; one statement cannot replace its own rows. */
function withoutReplaced(jobs: readonly NewJob[]): NewJob[] {
  const byKey = new Map(jobs.map((job, index) => [job.key ?? index, job]));
  return [...byKey.values()];
}

/** Adds jobs in the transaction of the change that wants them: they exist if and only if it commits. */
export async function enqueueAll(tx: Transaction, jobs: readonly NewJob[]): Promise<void> {
  if (jobs.length === 0) return;
  await tx.query(addJobs([storableJson(withoutReplaced(jobs))]));
}

/** Adds one job; see `enqueueAll`. */
export async function enqueue(tx: Transaction, job: NewJob): Promise<void> {
  await enqueueAll(tx, [job]);
}

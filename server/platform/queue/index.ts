// Jobs: enqueued in the transaction of the change that wants them, run by any process, repeated until they succeed.
// Used by modules to enqueue and by app to run.
// Must not know what any job does.
export { enqueue, enqueueAll, type NewJob } from './enqueue.ts';
export { deleteFailedJobs } from './delete-failed.ts';
export { migrateQueue } from './migrate-queue.ts';
export { createQueue, type Queue, type QueueOptions } from './create-queue.ts';

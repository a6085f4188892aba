import { parentPort, workerData } from 'node:worker_threads';
import { AppError } from '../../../platform/errors/index.ts';
import { syncSteps } from './sync-steps.ts';
import type { SyncReply } from './sync-step.ts';

/** Safe because only open-steps.ts starts this thread, with exactly that. */
function bytesOf(data: unknown): Buffer {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return Buffer.from(data as Uint8Array<ArrayBuffer>);
}

const steps = syncSteps(bytesOf(workerData));

parentPort?.on('message', (reply: SyncReply) => {
  try {
    parentPort?.postMessage(steps.next(reply));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    parentPort?.postMessage({ code: error.code, message: error.message });
  }
});

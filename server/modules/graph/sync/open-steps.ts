import { Worker } from 'node:worker_threads';
import type { ErrorCode } from '../../../../contract/shared/errors.ts';
import { AppError } from '../../../platform/errors/index.ts';
import { syncSteps } from './sync-steps.ts';
import type { StepSource, SyncCounts, SyncReply, SyncStep } from './sync-step.ts';
import { Turns } from './turns.ts';

/** Bodies up to this are read by the event loop, in some milliseconds; larger ones by a thread of their own. */
export const INLINE_BYTES = 256 * 1024;
const turns = new Turns(2);
/** The most memory that the values of a body of 64 MB may take. */
const THREAD_HEAP_MB = 2048;

type Answer = IteratorResult<SyncStep, SyncCounts> | { code: ErrorCode; message: string };

function outOfMemory(error: Error): Error {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new AppError('PAYLOAD_TOO_LARGE', 'The body holds too many values.', { cause: error })
    : error;
}

function startThread(bytes: Buffer<ArrayBuffer>, end: () => void): StepSource {
  const worker = new Worker(new URL('sync-thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
  });
  worker.postMessage(bytes, [bytes.buffer]);
  let asked = Promise.withResolvers<Answer>();
  worker.on('message', (answer: Answer) => asked.resolve(answer));
  worker.on('error', (error: Error) => asked.reject(outOfMemory(error)));
  worker.on('exit', () => asked.reject(new Error('the thread of a sync has ended')));
  // A thread that ends while nobody waits is told by the next call.
  asked.promise.catch(() => undefined);
  return {
    next: async (reply: SyncReply) => {
      worker.postMessage(reply);
      const answer = await asked.promise;
      asked = Promise.withResolvers<Answer>();
      asked.promise.catch(() => undefined);
      if ('code' in answer) throw new AppError(answer.code, answer.message);
      return answer;
    },
    close: async () => {
      await worker.terminate();
      end();
    },
  };
}

/** The steps of a sync of a developer, read from the bytes of its body, which are not usable afterwards. */
export async function openSteps(owner: string, bytes: Buffer<ArrayBuffer>): Promise<StepSource> {
  if (bytes.length <= INLINE_BYTES) {
    const steps = syncSteps(bytes);
    return { next: (reply) => new Promise((resolve) => resolve(steps.next(reply))), close: () => Promise.resolve() };
  }
  return startThread(bytes, await turns.take(owner));
}

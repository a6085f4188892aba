import { parentPort } from 'node:worker_threads';
import { AppError } from '../../../platform/errors/index.ts';
import { syncSteps } from './sync-steps.ts';
import type { SyncReply } from './sync-step.ts';

/** The first message is the body, every other one a reply. */
type Message = Uint8Array<ArrayBuffer> | SyncReply;

let body: Buffer | undefined;
let steps: ReturnType<typeof syncSteps> | undefined;

/** Reads the body at the first call, and lets go of it: its values alone take several times as much. */
function openBody(): ReturnType<typeof syncSteps> {
  const bytes = body ?? Buffer.alloc(0);
  body = undefined;
  return syncSteps(bytes);
}

parentPort?.on('message', (message: Message) => {
  if (message instanceof Uint8Array) {
    body = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
    return;
  }
  try {
    steps ??= openBody();
    parentPort?.postMessage(steps.next(message));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    parentPort?.postMessage({ code: error.code, message: error.message });
  }
});

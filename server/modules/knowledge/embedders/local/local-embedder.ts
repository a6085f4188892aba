import { Worker } from 'node:worker_threads';
import { ThreadEmbedder } from '../thread/thread-embedder.ts';
import { findModel, nameOf } from './find-model.ts';

/** As much as the models of today read. */
const MAX_CHARACTERS = 8000;
/** A long passage, some tens of milliseconds with a small model. */
const SLICE = { texts: 4, characters: 2000 };

/**
 * The embedder of a folder with an ONNX model, which @huggingface/transformers runs in a thread. Throws an Error of one
 * line when that is not installed or the folder holds no model.
 */
export async function createLocalEmbedder(path: string): Promise<ThreadEmbedder> {
  const model = await findModel(path);
  return new ThreadEmbedder({
    model: nameOf(model),
    start: () => new Worker(new URL('model-thread.ts', import.meta.url), { workerData: model }),
    maxCharacters: MAX_CHARACTERS,
    slice: SLICE,
  });
}

import { Worker } from 'node:worker_threads';
import { ThreadEmbedder } from '../thread/thread-embedder.ts';

/** The 128 pieces that the model reads have at most 16 each. */
const MAX_CHARACTERS = 2048;
/** One long passage, about 30 ms, or some short ones. */
const SLICE = { texts: 16, characters: 700 };
/** What the model's files take while they are read; the weights themselves lie outside of this heap. */
const HEAP_MB = 128;

/** The small English model whose weights come with the service, in a thread of its own. */
export function createBuiltinEmbedder(options: { idleMs?: number } = {}): ThreadEmbedder {
  return new ThreadEmbedder({
    model: 'builtin:universal-sentence-encoder-lite',
    start: () =>
      new Worker(new URL('encoder-thread.ts', import.meta.url), {
        resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
      }),
    maxCharacters: MAX_CHARACTERS,
    slice: SLICE,
    ...options,
  });
}

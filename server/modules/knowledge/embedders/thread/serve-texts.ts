import { parentPort } from 'node:worker_threads';
import { errorMessage } from '../../../../platform/errors/index.ts';
import type { EmbeddingPurpose } from '../embedder.ts';

/** What a thread is asked; one request at a time. */
export interface ThreadRequest {
  texts: string[];
  purpose: EmbeddingPurpose;
}

export type ThreadReply = { vectors: (Float32Array | null)[] } | { failure: string };

/** Embeds some texts, in their order. */
export type Engine = (
  texts: readonly string[],
  purpose: EmbeddingPurpose,
) => (Float32Array | null)[] | Promise<(Float32Array | null)[]>;

/** Answers the requests that a `ThreadEmbedder` sends to this thread. The model is opened once; failing ends the thread. */
export async function serveTexts(open: () => Promise<Engine>): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error('this file is run by a thread of its own');
  const engine = open();
  port.on('message', (request: ThreadRequest) => {
    void answer(engine, request).then((reply) => port.postMessage(reply));
  });
  await engine;
}

async function answer(opening: Promise<Engine>, { texts, purpose }: ThreadRequest): Promise<ThreadReply> {
  const engine = await opening;
  try {
    return { vectors: await engine(texts, purpose) };
  } catch (error) {
    return { failure: errorMessage(error) };
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BaseType } from '../../../../contract/routes/knowledge.ts';
import type { Chunk } from './chunk.ts';
import { chunksOf } from './chunk-document.ts';

/** Milliseconds after which others have a turn. */
const SLICE_MS = 8;

/** The chunks of a document, cut a little at a time. */
export async function chunkInSlices(content: string, type: BaseType): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  let turnAtMs = performance.now() + SLICE_MS;
  for (const chunk of chunksOf(content, type)) {
    if (chunk) chunks.push(chunk);
    if (performance.now() < turnAtMs) continue;
    await nextTurn();
    turnAtMs = performance.now() + SLICE_MS;
  }
  return chunks;
}

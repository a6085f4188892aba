import type { BaseType } from '../../../../contract/routes/knowledge.ts';
import { Pace } from '../next-turn.ts';
import type { Chunk } from './chunk.ts';
import { chunksOf } from './chunk-document.ts';

/** The chunks of a document, cut a little at a time. */
export async function chunkInSlices(content: string, type: BaseType): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  const pace = new Pace();
  for (const chunk of chunksOf(content, type)) {
    if (chunk) chunks.push(chunk);
    if (pace.isOver) await pace.rest();
  }
  return chunks;
}

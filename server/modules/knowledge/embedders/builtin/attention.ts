import {
  packRows,
  packTransposed,
  paddedColumns,
  paddedInner,
  SPARE_ROWS,
  type MatrixMemory,
  type PackedMatrix,
  type Rows,
} from './matmul.ts';

/** The rows of one text among those of several. */
export interface Sequence {
  start: number;
  length: number;
}

interface AttentionShape {
  width: number;
  heads: number;
  maxLength: number;
}

/**
 * Multi-head attention of each row of a text to all rows of it, https://arxiv.org/abs/1706.03762. Queries, keys and
 * values stand beside each other in the rows that it reads.
 */
export class Attention {
  readonly #memory: MatrixMemory;
  readonly #shape: AttentionShape;
  readonly #headWidth: number;
  readonly #scores: Float32Array;
  readonly #keys: Float32Array;
  readonly #values: Float32Array;
  readonly #noBias: Float32Array;

  constructor(memory: MatrixMemory, shape: AttentionShape) {
    const longest = paddedColumns(shape.maxLength);
    this.#memory = memory;
    this.#shape = shape;
    this.#headWidth = shape.width / shape.heads;
    this.#scores = memory.allocate((longest + SPARE_ROWS) * longest);
    this.#keys = memory.allocate(this.#headWidth * longest);
    this.#values = memory.allocate(this.#headWidth * longest);
    this.#noBias = memory.allocate(Math.max(longest, this.#headWidth));
  }

  /** Writes the mixed values of a text; the first rows of the next one may be overwritten. */
  run(source: Float32Array, sequence: Sequence, into: Float32Array): void {
    for (let head = 0; head < this.#shape.heads; head++) {
      this.#runHead(source, sequence, { into, at: head * this.#headWidth });
    }
  }

  #runHead(source: Float32Array, { start, length }: Sequence, target: { into: Float32Array; at: number }): void {
    const { width } = this.#shape;
    const stride = 3 * width;
    const rowsAt = (column: number): Rows => ({ data: source.subarray(start * stride + column), stride });
    const keys = this.#packed(this.#keys, this.#headWidth, paddedColumns(length));
    packTransposed(rowsAt(width + target.at), length, keys);
    const scores: Rows = { data: this.#scores, stride: keys.columns };
    const left = rowsAt(target.at);
    this.#memory.multiply({ left, right: keys, bias: this.#noBias, into: scores, count: length });
    this.#toShares(scores, length);
    const values = this.#packed(this.#values, paddedInner(length), this.#headWidth);
    packRows(rowsAt(2 * width + target.at), length, values);
    const into: Rows = { data: target.into.subarray(start * width + target.at), stride: width };
    this.#memory.multiply({ left: scores, right: values, bias: this.#noBias, into, count: length });
  }

  #packed(data: Float32Array, rows: number, columns: number): PackedMatrix {
    // What another text has left must not count as rows or columns of this one.
    return { data: data.subarray(0, rows * columns).fill(0), rows, columns };
  }

  /** Softmax of each row, scaled by the width of a head; the columns that only fill up the panels get none. */
  #toShares({ data, stride }: Rows, length: number): void {
    const scale = 1 / Math.sqrt(this.#headWidth);
    for (let row = 0; row < length; row++) {
      const scores = data.subarray(row * stride, (row + 1) * stride);
      let largest = -Infinity;
      for (let i = 0; i < length; i++) largest = Math.max(largest, scores[i] ?? 0);
      let sum = 0;
      for (let i = 0; i < length; i++) {
        const share = Math.exp(((scores[i] ?? 0) - largest) * scale);
        scores[i] = share;
        sum += share;
      }
      for (let i = 0; i < length; i++) scores[i] = (scores[i] ?? 0) / sum;
      scores.fill(0, length);
    }
  }
}

import { Int32Column } from '../words/columns.ts';
import { BLOCK_ROWS, rowLength, type VectorArena } from './vector-arena.ts';

/** The score of a chunk without a vector. */
export const NO_VECTOR = -2;

/** Used again for each question. */
let products32 = new Float32Array(0);

/** Vectors of the chunks of one base, all of one model and length. */
export class VectorIndex {
  readonly model: string;
  readonly dimensions: number;
  readonly #arena: VectorArena;
  readonly #length: number;
  readonly #blocks: number[] = [];
  /** Chunk of each row, in the order in which they came. */
  readonly #chunks = new Int32Column();
  readonly #rows = new Map<number, number>();

  constructor(arena: VectorArena, { model, dimensions }: { model: string; dimensions: number }) {
    this.model = model;
    this.dimensions = dimensions;
    this.#arena = arena;
    this.#length = rowLength(dimensions);
  }

  get count(): number {
    return this.#chunks.length;
  }

  /** Of one vector. */
  get rowBytes(): number {
    return 4 * (this.#length + 1);
  }

  get bytes(): number {
    return 4 * (this.#blocks.length * BLOCK_ROWS * this.#length + this.#chunks.values.length);
  }

  get chunks(): Int32Array {
    return this.#chunks.used;
  }

  /** Copies of the first vectors in the order of `chunks`, some at a time. Throws when they are released meanwhile. */
  *rows(count: number): Generator<Uint8Array> {
    for (let first = 0; first < count; first += BLOCK_ROWS) {
      const piece = new Float32Array(Math.min(BLOCK_ROWS, count - first) * this.dimensions);
      for (let row = 0; row * this.dimensions < piece.length; row++) {
        piece.set(this.#row(first + row), row * this.dimensions);
      }
      if (this.#chunks.length < count) throw new Error('vectors were released while they were read');
      yield new Uint8Array(piece.buffer);
    }
  }

  add(chunk: number, vector: Float32Array): void {
    const row = this.#chunks.length % BLOCK_ROWS;
    if (row === 0) this.#blocks.push(this.#arena.allocate(this.#length));
    const block = this.#blocks.at(-1) ?? 0;
    this.#arena.floats.set(vector, block / 4 + row * this.#length);
    this.#rows.set(chunk, this.#chunks.length);
    this.#chunks.push(chunk);
  }

  /** The vector of a row; not to be kept. */
  #row(at: number): Float32Array {
    const start = (this.#blocks[Math.floor(at / BLOCK_ROWS)] ?? 0) / 4 + (at % BLOCK_ROWS) * this.#length;
    return this.#arena.floats.subarray(start, start + this.dimensions);
  }

  /**
   * Scalar products with all vectors, by chunk; NO_VECTOR where there is none. In 32-bit floats: see `precise`. Valid
   * until the next call.
   */
  score(query: Float32Array, chunkCount: number): Float32Array {
    if (products32.length < chunkCount) products32 = new Float32Array(2 * chunkCount);
    const scores = products32.subarray(0, chunkCount).fill(NO_VECTOR);
    this.#arena.setQuery(query, this.#length);
    const chunks = this.#chunks.values;
    for (const [place, block] of this.#blocks.entries()) {
      const first = place * BLOCK_ROWS;
      const count = Math.min(BLOCK_ROWS, this.#chunks.length - first);
      const products = this.#arena.multiply(block, { count, length: this.#length });
      for (let row = 0; row < count; row++) scores[chunks[first + row] ?? 0] = products[row] ?? 0;
    }
    return scores;
  }

  /** The scalar product with the vector of a chunk in 64-bit floats; NO_VECTOR where there is none. */
  precise(query: Float32Array, chunk: number): number {
    const at = this.#rows.get(chunk);
    if (at === undefined) return NO_VECTOR;
    const vector = this.#row(at);
    let sum = 0;
    for (let place = 0; place < vector.length; place++) sum += (vector[place] ?? 0) * (query[place] ?? 0);
    return sum;
  }

  /** Gives the memory back. */
  release(): void {
    for (const block of this.#blocks) this.#arena.release(block, this.#length);
    this.#blocks.length = 0;
    this.#chunks.length = 0;
    this.#rows.clear();
  }
}

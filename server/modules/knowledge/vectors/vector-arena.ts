import { dotModule } from './dot-code.ts';

const PAGE_BYTES = 65_536;
const FLOAT_BYTES = 4;
/** Numbers that a vector may have. */
const MOST_DIMENSIONS = 16_384;
/** Rows that are multiplied in one call. */
export const BLOCK_ROWS = 64;
/** The query, then what comes out, then blocks. */
const OUT = MOST_DIMENSIONS * FLOAT_BYTES;
const FIRST_BLOCK = OUT + PAGE_BYTES;

/** The little that is needed of it; its types come only with those of browsers. */
declare const WebAssembly: {
  Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer; grow: (pages: number) => number };
  Module: new (code: Uint8Array<ArrayBuffer>) => object;
  Instance: new (module: object, imports: object) => { readonly exports: Record<string, unknown> };
};

/** Of the query, the rows, their count, the bytes of one, and the place for the products. */
type Dot = (...parameters: number[]) => void;

/** Safe because the module exports exactly that function by that name. */
function asDot(exported: unknown): Dot {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return exported as Dot;
}

/** Numbers that a row takes: sixteen are multiplied at a time. */
export function rowLength(dimensions: number): number {
  return Math.ceil(dimensions / 16) * 16;
}

/** Memory of vectors in blocks of equal rows, where they are multiplied four numbers at a time. One for all bases. */
export class VectorArena {
  readonly #memory = new WebAssembly.Memory({ initial: FIRST_BLOCK / PAGE_BYTES });
  readonly #dot: Dot;
  #end = FIRST_BLOCK;
  /** Blocks that were given back, by bytes. */
  readonly #free = new Map<number, number[]>();
  #view = new Float32Array(this.#memory.buffer);

  constructor() {
    const module = new WebAssembly.Module(dotModule());
    this.#dot = asDot(new WebAssembly.Instance(module, { m: { memory: this.#memory } }).exports['dot']);
  }

  /** A block for rows of that length, all zeros. Throws RangeError when there is no memory left. */
  allocate(length: number): number {
    const bytes = BLOCK_ROWS * length * FLOAT_BYTES;
    const known = this.#free.get(bytes)?.pop();
    if (known !== undefined) {
      this.floats.fill(0, known / FLOAT_BYTES, (known + bytes) / FLOAT_BYTES);
      return known;
    }
    const missing = this.#end + bytes - this.#memory.buffer.byteLength;
    if (missing > 0) this.#memory.grow(Math.ceil(missing / PAGE_BYTES));
    const block = this.#end;
    this.#end += bytes;
    return block;
  }

  release(block: number, length: number): void {
    const bytes = BLOCK_ROWS * length * FLOAT_BYTES;
    const free = this.#free.get(bytes);
    if (free) free.push(block);
    else this.#free.set(bytes, [block]);
  }

  /** All of the memory; not to be kept, since it moves when it grows. */
  get floats(): Float32Array {
    if (this.#view.length === 0) this.#view = new Float32Array(this.#memory.buffer);
    return this.#view;
  }

  setQuery(query: Float32Array, length: number): void {
    this.floats.fill(0, 0, length);
    this.floats.set(query);
  }

  /** Scalar products of the query with the first rows of a block; valid until the next call. */
  multiply(block: number, rows: { count: number; length: number }): Float32Array {
    this.#dot(0, block, rows.count, rows.length * FLOAT_BYTES, OUT);
    return this.floats.subarray(OUT / FLOAT_BYTES, OUT / FLOAT_BYTES + rows.count);
  }
}

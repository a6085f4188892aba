import { matmulModule, PANEL, ROW_BLOCK } from './matmul-code.ts';

const PAGE_BYTES = 65_536;
const FLOAT_BYTES = 4;
/** SIMD loads and cache lines like whole lines. */
const ALIGNMENT_FLOATS = 16;
/** Steps of the inner loop come in fours. */
const K_STEP = 4;

/** A matrix by panels of eight columns, as the right factor has to be. */
export interface PackedMatrix {
  data: Float32Array;
  rows: number;
  columns: number;
}

/** Rows in memory: the first begins where `data` does, each further one `stride` numbers later. */
export interface Rows {
  data: Float32Array;
  stride: number;
}

export interface Product {
  left: Rows;
  right: PackedMatrix;
  /** Added to each row; as many numbers as the right factor has columns. */
  bias: Float32Array;
  into: Rows;
  /** Rows to multiply. So many are written, and up to five more. */
  count: number;
  /** Smaller sums are raised to this. */
  floor?: number;
}

/** The little that is needed of it; its types come only with those of browsers. */
declare const WebAssembly: {
  Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer };
  Module: new (code: Uint8Array<ArrayBuffer>) => object;
  Instance: new (module: object, imports: object) => { readonly exports: Record<string, unknown> };
};

type Kernel = (...parameters: number[]) => void;

/** Rows that have to be there behind the last: the last block may begin at it. */
export const SPARE_ROWS = ROW_BLOCK - 1;

/** A multiple of `step` that is not less. */
function roundUp(count: number, step: number): number {
  return Math.ceil(count / step) * step;
}

/** Rows of a matrix as it is multiplied by: its columns on the left come in fours. */
export function paddedInner(count: number): number {
  return roundUp(count, K_STEP);
}

/** Columns of a matrix as it is packed. */
export function paddedColumns(count: number): number {
  return roundUp(count, PANEL);
}

/** Memory for matrices, and their multiplication in it. */
export class MatrixMemory {
  readonly #memory: InstanceType<typeof WebAssembly.Memory>;
  readonly #kernel: Kernel;
  #used = 0;

  /** Room for so many numbers; each allocation may take 15 more. */
  constructor(floats: number) {
    this.#memory = new WebAssembly.Memory({ initial: Math.ceil((floats * FLOAT_BYTES) / PAGE_BYTES) });
    const module = new WebAssembly.Module(matmulModule());
    this.#kernel = asKernel(new WebAssembly.Instance(module, { m: { memory: this.#memory } }).exports['matmul']);
  }

  /** Zeros at first. */
  allocate(floats: number): Float32Array {
    const data = new Float32Array(this.#memory.buffer, this.#used * FLOAT_BYTES, floats);
    this.#used += roundUp(floats, ALIGNMENT_FLOATS);
    return data;
  }

  /** A right factor of zeros. */
  allocatePacked(rows: number, columns: number): PackedMatrix {
    return { data: this.allocate(rows * columns), rows, columns };
  }

  multiply({ left, right, bias, into, count, floor = -Infinity }: Product): void {
    // Its loops run at least once.
    if (count === 0 || right.rows === 0) return;
    this.#kernel(
      left.data.byteOffset,
      left.stride * FLOAT_BYTES,
      right.data.byteOffset,
      into.data.byteOffset,
      into.stride * FLOAT_BYTES,
      Math.ceil(count / ROW_BLOCK),
      right.rows / K_STEP,
      right.columns / PANEL,
      bias.byteOffset,
      floor,
    );
  }
}

/** Writes rows of a matrix to their places in the panels. */
export function packRows(source: Rows, count: number, into: PackedMatrix): void {
  for (let row = 0; row < count; row++) {
    for (let column = 0; column < into.columns; column++) {
      into.data[packedIndex(into, row, column)] = source.data[row * source.stride + column] ?? 0;
    }
  }
}

/** Writes rows of a matrix as the columns of the packed one. */
export function packTransposed(source: Rows, count: number, into: PackedMatrix): void {
  for (let column = 0; column < count; column++) {
    for (let row = 0; row < into.rows; row++) {
      into.data[packedIndex(into, row, column)] = source.data[column * source.stride + row] ?? 0;
    }
  }
}

function packedIndex({ rows }: PackedMatrix, row: number, column: number): number {
  return ((column >>> 3) * rows + row) * PANEL + (column & (PANEL - 1));
}

/** Safe because the module that is written here exports one function of numbers under that name. */
function asKernel(value: unknown): Kernel {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return value as Kernel;
}

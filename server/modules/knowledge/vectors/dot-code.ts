/** Unsigned LEB128. */
function number(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return [...bytes, rest];
    bytes.push((rest & 0x7f) | 0x80);
  }
}

/** Bytes, in any nesting. */
type Code = number | readonly Code[];

function flat(code: Code): number[] {
  return typeof code === 'number' ? [code] : code.flatMap(flat);
}

function section(id: number, bytes: readonly number[]): number[] {
  return [id, ...number(bytes.length), ...bytes];
}

const I32 = 0x7f;
const V128 = 0x7b;
const get = (local: number): number[] => [0x20, local];
const set = (local: number): number[] => [0x21, local];
const tee = (local: number): number[] => [0x22, local];
const constant = (value: number): number[] => [0x41, value];
const simd = (operation: number, ...rest: number[]): number[] => [0xfd, ...number(operation), ...rest];
const load = (offset: number): number[] => simd(0x00, 2, offset);
/** The magic number and the version. */
const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const ADD = 0x6a;
const SUBTRACT = 0x6b;
const LESS = 0x49;
const IS_ZERO = 0x45;
const ADD_FLOATS = 0x92;
const STORE_FLOAT = [0x38, 2, 0];
const ADD_LANES = simd(0xe4);
const MULTIPLY_LANES = simd(0xe6);
const BLOCK = [0x02, 0x40];
const LOOP = [0x03, 0x40];
const END = 0x0b;
const BRANCH = 0x0c;
const BRANCH_IF = 0x0d;

// Parameters, then the offset inside a row and four sums of four lanes.
const QUERY = 0;
const ROW = 1;
const COUNT = 2;
const ROW_BYTES = 3;
const OUT = 4;
const OFFSET = 5;
const SUMS = [6, 7, 8, 9];

/** Adds the products of four numbers of the query and the row to a sum. */
function addProducts(sum: number, place: number): number[] {
  const at = (base: number): number[] => [...get(base), ...get(OFFSET), ADD, ...load(16 * place)];
  return [...get(sum), ...at(QUERY), ...at(ROW), ...MULTIPLY_LANES, ...ADD_LANES, ...set(sum)];
}

function lane(sum: number, place: number): number[] {
  return [...get(sum), ...simd(0x1f, place)];
}

function body(): number[] {
  const zero = simd(0x0c, ...Array.from({ length: 16 }, () => 0));
  const [first = 0, second = 0, third = 0, fourth = 0] = SUMS;
  const nextOffset = [get(OFFSET), constant(0xc0), 0x00, ADD, tee(OFFSET)];
  const inner = [LOOP, SUMS.flatMap(addProducts), nextOffset, get(ROW_BYTES), LESS, BRANCH_IF, 0, END];
  const addSums = [get(first), get(second), ADD_LANES, get(third), get(fourth), ADD_LANES, ADD_LANES, set(first)];
  const addLanes = [lane(first, 0), ...[1, 2, 3].map((place) => [lane(first, place), ADD_FLOATS])];
  const nextRow = [get(ROW), get(ROW_BYTES), ADD, set(ROW), get(OUT), constant(4), ADD, set(OUT)];
  const countDown = [get(COUNT), constant(1), SUBTRACT, set(COUNT)];
  return flat([
    [BLOCK, LOOP, get(COUNT), IS_ZERO, BRANCH_IF, 1],
    [SUMS.map((sum) => [zero, set(sum)]), constant(0), set(OFFSET), inner, addSums],
    [get(OUT), addLanes, STORE_FLOAT, nextRow, countDown, BRANCH, 0],
    [END, END],
  ]);
}

function text(value: string): number[] {
  return [value.length, ...Buffer.from(value)];
}

/**
 * A WebAssembly module with `dot(query, rows, count, rowBytes, out)`: the scalar products of a query with so many rows
 * behind each other, as 32-bit floats. Rows have a multiple of 16 numbers. It imports its memory as `m.memory`.
 */
export function dotModule(): Uint8Array<ArrayBuffer> {
  const code = [2, 1, I32, SUMS.length, V128, ...body(), END];
  return Uint8Array.from([
    ...HEADER,
    ...section(1, [1, 0x60, 5, I32, I32, I32, I32, I32, 0]),
    ...section(2, [1, ...text('m'), ...text('memory'), 2, 0, 1]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...text('dot'), 0, 0]),
    ...section(10, [1, ...number(code.length), ...code]),
  ]);
}

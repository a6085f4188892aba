/** Rows of A that the inner loop works on at a time: with two vectors of columns they fill the registers of x86-64. */
export const ROW_BLOCK = 6;
/** Columns of a panel of B: two vectors of four. */
export const PANEL = 8;
/** Steps of the inner loop that are written out. */
const UNROLL = 4;

const MAGIC_AND_VERSION = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const I32 = 0x7f;
const F32 = 0x7d;
const V128 = 0x7b;

/** The parameters in their order; addresses and strides in bytes. */
const PARAMETERS = ['a', 'aStride', 'b', 'c', 'cStride', 'rowBlocks', 'kSteps', 'panels', 'bias', 'floor'] as const;
const POINTERS = ['aRow', 'cRow', 'blocksLeft', 'kLeft', 'bAt'] as const;

type Code = readonly number[];

const rows = Array.from({ length: ROW_BLOCK }, (_, row) => row);
const halves = [0, 1] as const;

/** Numbers of the locals by their names: parameters first, then integers, then vectors. */
const integerNames = [...POINTERS, ...rows.map((row) => `a${row}`)];
const vectorNames = [...rows.flatMap((row) => halves.map((half) => `sum${row}${half}`)), 'b0', 'b1', 'value', 'floors'];
const locals = new Map([...PARAMETERS, ...integerNames, ...vectorNames].map((name, index) => [name, index]));

/** An unsigned number in LEB128, as WebAssembly writes them. */
function unsigned(value: number): Code {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
}

/** A signed number in LEB128. */
function signed(value: number): Code {
  return value >= -64 && value < 64 ? [value & 127] : [(value & 127) | 128, ...signed(value >> 7)];
}

function section(id: number, content: Code): Code {
  return [id, ...unsigned(content.length), ...content];
}

function local(name: string): Code {
  const index = locals.get(name);
  if (index === undefined) throw new Error(`no local is called ${name}`);
  return unsigned(index);
}

// Instructions, by the opcodes of https://webassembly.github.io/spec/core/binary/instructions.html.
const get = (name: string): Code => [0x20, ...local(name)];
const set = (name: string, value: Code): Code => [...value, 0x21, ...local(name)];
const constant = (value: number): Code => [0x41, ...signed(value)];
const add = (left: Code, right: Code): Code => [...left, ...right, 0x6a];
const multiply = (left: Code, right: Code): Code => [...left, ...right, 0x6c];
const advance = (name: string, by: Code): Code => set(name, add(get(name), by));
const simd = (opcode: number): Code => [0xfd, ...unsigned(opcode)];
/** Memory access: the alignment is a hint, the offset is added to the address. */
const at = (offset: number): Code => [2, ...unsigned(offset)];
const load = (address: Code, offset: number): Code => [...address, ...simd(0x00), ...at(offset)];
const loadSplat = (address: Code, offset: number): Code => [...address, ...simd(0x09), ...at(offset)];
const store = (address: Code, value: Code): Code => [...address, ...value, ...simd(0x0b), ...at(0)];
const splat = (value: Code): Code => [...value, ...simd(0x13)];
/** f32x4.pmax: one instruction, unlike max, which cares for NaN. */
const atLeast = (value: Code, floor: Code): Code => [...value, ...floor, ...simd(0xeb)];
/** f32x4.relaxed_madd: left * right + sum, rounded once where the processor can. */
const multiplyAdd = (left: Code, right: Code, sum: Code): Code => [...left, ...right, ...sum, ...simd(0x105)];

/** Runs the body until the counter, which it starts with, is used up; at least once. */
function countDown(name: string, body: Code): Code {
  const decrease: Code = [...get(name), ...constant(1), 0x6b, 0x22, ...local(name)];
  return [0x03, 0x40, ...body, ...decrease, 0x0d, 0, 0x0b];
}

/** One column of the row block times one row of the panel. */
function innerStep(step: number): Code {
  return [
    ...set('b0', load(get('bAt'), step * PANEL * 4)),
    ...set('b1', load(get('bAt'), step * PANEL * 4 + 16)),
    ...rows.flatMap((row) => [
      ...set('value', loadSplat(get(`a${row}`), step * 4)),
      ...halves.flatMap((half) => {
        const sum = `sum${row}${half}`;
        return set(sum, multiplyAdd(get('value'), get(`b${half}`), get(sum)));
      }),
    ]),
  ];
}

function rowBlock(): Code {
  const start = rows.flatMap((row) => [
    ...set(`a${row}`, row === 0 ? get('aRow') : add(get(`a${row - 1}`), get('aStride'))),
    ...halves.flatMap((half) => set(`sum${row}${half}`, load(get('bias'), half * 16))),
  ]);
  const steps = Array.from({ length: UNROLL }, (_, step) => innerStep(step)).flat();
  const next = [
    ...rows.flatMap((row) => advance(`a${row}`, constant(UNROLL * 4))),
    ...advance('bAt', constant(UNROLL * PANEL * 4)),
  ];
  const finish = rows.flatMap((row) => [
    ...store(get('cRow'), atLeast(get(`sum${row}0`), get('floors'))),
    ...store(add(get('cRow'), constant(16)), atLeast(get(`sum${row}1`), get('floors'))),
    ...advance('cRow', get('cStride')),
  ]);
  return [
    ...start,
    ...set('bAt', get('b')),
    ...set('kLeft', get('kSteps')),
    ...countDown('kLeft', [...steps, ...next]),
    ...finish,
    ...advance('aRow', multiply(get('aStride'), constant(ROW_BLOCK))),
  ];
}

function functionBody(): Code {
  const panel = [
    ...set('aRow', get('a')),
    ...set('cRow', get('c')),
    ...set('blocksLeft', get('rowBlocks')),
    ...countDown('blocksLeft', rowBlock()),
    ...set('b', get('bAt')),
    ...advance('c', constant(PANEL * 4)),
    ...advance('bias', constant(PANEL * 4)),
  ];
  const declarations = [2, ...unsigned(integerNames.length), I32, ...unsigned(vectorNames.length), V128];
  return [...declarations, ...set('floors', splat(get('floor'))), ...countDown('panels', panel), 0x0b];
}

const name = (text: string): Code => [text.length, ...Buffer.from(text)];

/**
 * A WebAssembly module with one function `matmul`: C = max(A B + bias, floor), in single precision with SIMD. It imports
 * its memory as `m.memory`. A and C are by rows; B is by panels of `PANEL` columns, each by rows. The rows of A and C go
 * to a multiple of `ROW_BLOCK`, the columns of A to a multiple of four.
 */
export function matmulModule(): Uint8Array<ArrayBuffer> {
  const types = PARAMETERS.map((parameter) => (parameter === 'floor' ? F32 : I32));
  const body = functionBody();
  return Uint8Array.from([
    ...MAGIC_AND_VERSION,
    ...section(1, [1, 0x60, types.length, ...types, 0]),
    ...section(2, [1, ...name('m'), ...name('memory'), 2, 0, 1]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...name('matmul'), 0, 0]),
    ...section(10, [1, ...unsigned(body.length), ...body]),
  ]);
}

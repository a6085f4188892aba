import { unitVector } from '../unit-vector.ts';
import { Attention, type Sequence } from './attention.ts';
import { EncoderLayer, type Batch, type Dense, type LayerWeights, type Workspace } from './encoder-layer.ts';
import { MatrixMemory, SPARE_ROWS } from './matmul.ts';
import type { ModelFiles } from './model-files.ts';
import { INNER_WIDTH, INPUT_WIDTH, STACK, WeightReader, WIDTH } from './weight-reader.ts';

/** Pieces that the model reads of a text. */
export const MAX_PIECES = 128;

const PIECES = 8002;
const HEADS = 4;
/** Pieces that go through the model together, of several texts where they are short. */
const MAX_ROWS = 2 * MAX_PIECES;
const ROOM = MAX_ROWS + SPARE_ROWS;
const WEIGHT_FLOATS = 5_100_000;
const SPACE_FLOATS = ROOM * (INPUT_WIDTH + 5 * WIDTH + 3 * WIDTH + INNER_WIDTH + 2 * WIDTH);

/**
 * The lite version of the Universal Sentence Encoder, https://arxiv.org/abs/1803.11175: a transformer of two layers
 * whose output is averaged over the pieces of the text.
 */
export class SentenceEncoder {
  readonly #memory = new MatrixMemory(WEIGHT_FLOATS + SPACE_FLOATS);
  readonly #pieces: Float32Array;
  readonly #frequencies: Float32Array;
  readonly #input: Float32Array;
  readonly #outputs: [Float32Array, Float32Array];
  readonly #means: Float32Array;
  readonly #vectors: Float32Array;
  readonly #layers: [EncoderLayer, EncoderLayer];
  readonly #last: Dense;

  constructor(files: ModelFiles) {
    const reader = new WeightReader(files, this.#memory);
    this.#pieces = files.weights('module/Embeddings_en', PIECES * INPUT_WIDTH).slice();
    const signal = `${STACK}/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1`;
    this.#frequencies = files.weights(signal, INPUT_WIDTH / 2).slice();
    this.#input = this.#memory.allocate(ROOM * INPUT_WIDTH);
    this.#outputs = [this.#memory.allocate(ROOM * WIDTH), this.#memory.allocate(ROOM * WIDTH)];
    this.#means = this.#memory.allocate(ROOM * WIDTH);
    this.#vectors = this.#memory.allocate(ROOM * WIDTH);
    const space: Workspace = {
      normal: this.#memory.allocate(ROOM * WIDTH),
      attention: this.#memory.allocate(ROOM * 3 * WIDTH),
      mixed: this.#memory.allocate(ROOM * WIDTH),
      inner: this.#memory.allocate(ROOM * INNER_WIDTH),
      addend: this.#memory.allocate(ROOM * WIDTH),
    };
    this.#layers = [this.#layer(reader.layer(0), space), this.#layer(reader.layer(1), space)];
    const last = 'module/Encoder_en/hidden_layers/tanh_layer_0';
    this.#last = reader.dense(`${last}/weights`, `${last}/bias`, [WIDTH, WIDTH]);
  }

  /** The unit vectors of texts that are given as the numbers of their pieces: 1 to `MAX_PIECES` each. */
  encode(texts: readonly (readonly number[])[]): (Float32Array | null)[] {
    const vectors: (Float32Array | null)[] = [];
    for (let at = 0; at < texts.length;) {
      const sequences = takeSequences(texts, at);
      vectors.push(...this.#encodeBatch(texts.slice(at, at + sequences.length), sequences));
      at += sequences.length;
    }
    return vectors;
  }

  #encodeBatch(texts: readonly (readonly number[])[], sequences: readonly Sequence[]): (Float32Array | null)[] {
    const last = sequences.at(-1);
    const batch: Batch = { sequences, rows: last ? last.start + last.length : 0 };
    for (const [index, { start }] of sequences.entries()) this.#readPieces(texts[index] ?? [], start);
    const [first, second] = this.#outputs;
    this.#layers[0].run(this.#input, batch, first);
    this.#layers[1].run(first, batch, second);
    for (const [index, sequence] of sequences.entries()) {
      this.#means.set(meanOf(second, sequence), index * WIDTH);
    }
    const { weights, bias } = this.#last;
    const [left, into] = [this.#means, this.#vectors].map((data) => ({ data, stride: WIDTH }));
    if (left && into) this.#memory.multiply({ left, right: weights, bias, into, count: sequences.length });
    return sequences.map((_, index) => {
      const sums = this.#vectors.slice(index * WIDTH, (index + 1) * WIDTH);
      return unitVector(sums.map(Math.tanh));
    });
  }

  #layer(weights: LayerWeights, space: Workspace): EncoderLayer {
    const width = weights.norm.scale.length;
    const attention = new Attention(this.#memory, { width, heads: HEADS, maxLength: MAX_PIECES });
    return new EncoderLayer(this.#memory, weights, { attention, space });
  }

  /** Twice the meaning of each piece and once its position, as the model was trained. */
  #readPieces(ids: readonly number[], start: number): void {
    const half = INPUT_WIDTH / 2;
    for (const [position, id] of ids.entries()) {
      const row = (start + position) * INPUT_WIDTH;
      const piece = id * INPUT_WIDTH;
      for (let i = 0; i < half; i++) {
        const angle = Math.fround(position * (this.#frequencies[i] ?? 0));
        this.#input[row + i] = 2 * (this.#pieces[piece + i] ?? 0) + Math.sin(angle);
        this.#input[row + half + i] = 2 * (this.#pieces[piece + half + i] ?? 0) + Math.cos(angle);
      }
    }
  }
}

/** As many texts from `from` on as fit into the rows of a batch; one at least. */
function takeSequences(texts: readonly (readonly number[])[], from: number): Sequence[] {
  const sequences: Sequence[] = [];
  let start = 0;
  for (let at = from; at < texts.length; at++) {
    const length = texts[at]?.length ?? 0;
    if (start + length > MAX_ROWS) break;
    sequences.push({ start, length });
    start += length;
  }
  return sequences;
}

function meanOf(rows: Float32Array, { start, length }: Sequence): Float32Array {
  const mean = new Float32Array(WIDTH);
  for (let i = 0; i < WIDTH; i++) {
    let sum = 0;
    for (let row = start; row < start + length; row++) sum += rows[row * WIDTH + i] ?? 0;
    mean[i] = sum / length;
  }
  return mean;
}

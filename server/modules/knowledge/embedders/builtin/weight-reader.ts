import type { Dense, LayerWeights, Norm } from './encoder-layer.ts';
import { packRows, type MatrixMemory } from './matmul.ts';
import type { ModelFiles } from './model-files.ts';

/** Numbers of a vector, and of each row between the layers. */
export const WIDTH = 512;
/** Numbers of a row before the first layer. */
export const INPUT_WIDTH = 256;
export const INNER_WIDTH = 1536;

const ENCODE = 'Encoder_en/KonaTransformer/Encode';
/** Where the graph has what is not a variable of the model. */
export const STACK = `module_apply_default/${ENCODE}/TransformerStack`;

/** Brings weights of the files to their places in memory. The files are not needed afterwards. */
export class WeightReader {
  readonly #files: ModelFiles;
  readonly #memory: MatrixMemory;

  constructor(files: ModelFiles, memory: MatrixMemory) {
    this.#files = files;
    this.#memory = memory;
  }

  layer(number: 0 | 1): LayerWeights {
    const width = number === 0 ? INPUT_WIDTH : WIDTH;
    const base = `module_apply_default/${ENCODE}/Layer_${number}/TransformerLayer`;
    const kernels = `module/${ENCODE}/Layer_${number}/TransformerLayer/MultiheadAttention`;
    const inner = `${STACK}/Layer_${number}/TransformerLayer/FFN`;
    const part = (name: string): string => `${base}/${name}/ConcatPartitions/concat`;
    const attention = (name: string, columns: number): Dense =>
      this.dense(`${kernels}/${name}/kernel/part_0`, part(`MultiheadAttention/${name}/bias`), [width, columns]);
    const feedForward = (name: string, sizes: [number, number]): Dense =>
      this.dense(`${inner}/${name}/Tensordot/Reshape_1`, part(`FFN/${name}/bias`), sizes);
    const norm = (name: string, size: number): Norm => ({
      scale: this.#files.weights(part(`${name}/layer_norm/layer_norm_scale`), size).slice(),
      bias: this.#files.weights(part(`${name}/layer_norm/layer_norm_bias`), size).slice(),
    });
    return {
      norm: norm('layer_prepostprocess', width),
      toAttention: attention('qkv_transform_single', 3 * width),
      fromAttention: attention('output_transform_single', WIDTH),
      adjust: width === WIDTH ? undefined : this.dense(part('dense/kernel'), part('dense/bias'), [width, WIDTH]),
      innerNorm: norm('FFN/layer_prepostprocess', WIDTH),
      toInner: feedForward('conv1', [WIDTH, INNER_WIDTH]),
      fromInner: feedForward('conv2', [INNER_WIDTH, WIDTH]),
    };
  }

  dense(weights: string, bias: string, [rows, columns]: [number, number]): Dense {
    const packed = this.#memory.allocatePacked(rows, columns);
    packRows({ data: this.#files.weights(weights, rows * columns), stride: columns }, rows, packed);
    const added = this.#memory.allocate(columns);
    added.set(this.#files.weights(bias, columns));
    return { weights: packed, bias: added };
  }
}

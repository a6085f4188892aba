import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';

/** Not a dependency: it brings hundreds of megabytes that few need. */
const PACKAGE = '@huggingface/transformers';
const PACKAGE_VERSION = '4.3.1';

/** What the thread needs to know of a model folder. */
export interface LocalModel {
  /** The package's main file. */
  library: string;
  /** Absolute. */
  folder: string;
  /** The folder of the ONNX files in it, '' for the folder itself. */
  subfolder: string;
  /** By the library's name of the precision. */
  dtype: string;
  pooling: 'mean' | 'cls' | 'last_token';
  /** What stands before a text. */
  prefixes: { query: string; passage: string };
}

/** Precisions by their files, the exact ones first. */
const FILES = [
  ['model.onnx', 'fp32'],
  ['model_fp16.onnx', 'fp16'],
  ['model_quantized.onnx', 'q8'],
  ['model_int8.onnx', 'int8'],
  ['model_uint8.onnx', 'uint8'],
  ['model_q4.onnx', 'q4'],
] as const;

/**
 * Throws an Error of one line that says what is missing: the package, the folder, or a file of the model. `findPackage`
 * gives the main file of a package, and throws when that is not installed.
 */
export async function findModel(path: string, findPackage = findInstalled): Promise<LocalModel> {
  const folder = resolve(path);
  const names = await readdir(folder).catch(() => undefined);
  if (!names) throw new Error(`EMBEDDINGS_LOCAL_PATH ${folder} is not a folder that can be read`);
  for (const name of ['config.json', 'tokenizer.json']) {
    if (!names.includes(name)) throw new Error(`EMBEDDINGS_LOCAL_PATH ${folder} holds no model: ${name} is missing`);
  }
  const inner = await readdir(join(folder, 'onnx')).catch(() => []);
  const [dtype, subfolder] = dtypeOf(inner) ? [dtypeOf(inner), 'onnx'] : [dtypeOf(names), ''];
  if (dtype === undefined) {
    throw new Error(`EMBEDDINGS_LOCAL_PATH ${folder} holds no model: onnx/model.onnx is missing`);
  }
  const pooling = poolingOf(await readObject(join(folder, '1_Pooling', 'config.json')));
  const prompts = (await readObject(join(folder, 'config_sentence_transformers.json')))['prompts'];
  return { library: libraryBy(findPackage), folder, subfolder, dtype, pooling, prefixes: prefixesOf(prompts) };
}

/** Names what the vectors of a model mean: its folder's name, and how precisely it calculates. */
export function nameOf({ folder, dtype }: LocalModel): string {
  return `local:${basename(folder)}:${dtype}`;
}

function dtypeOf(names: readonly string[]): string | undefined {
  return FILES.find(([file]) => names.includes(file))?.[1];
}

const findInstalled = (name: string): string => createRequire(import.meta.url).resolve(name);

function libraryBy(findPackage: (name: string) => string): string {
  try {
    return findPackage(PACKAGE);
  } catch {
    const command = `npm install --no-save --ignore-scripts ${PACKAGE}@${PACKAGE_VERSION}`;
    throw new Error(`EMBEDDINGS_LOCAL_PATH needs the package ${PACKAGE}, which is not installed: ${command}`);
  }
}

/** An object from a file that not every model has; an empty one without it. */
async function readObject(path: string): Promise<Record<string, unknown>> {
  const parsed: unknown = await readFile(path, 'utf8').then(JSON.parse, () => undefined);
  return isObject(parsed) ? parsed : {};
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function poolingOf(config: Record<string, unknown>): LocalModel['pooling'] {
  if (config['pooling_mode_cls_token'] === true) return 'cls';
  return config['pooling_mode_lasttoken'] === true ? 'last_token' : 'mean';
}

function prefixesOf(prompts: unknown): LocalModel['prefixes'] {
  const named = isObject(prompts) ? prompts : {};
  const text = (...names: string[]): string =>
    names.map((name) => named[name]).find((value) => typeof value === 'string') ?? '';
  return { query: text('query'), passage: text('passage', 'document') };
}

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { findModel, nameOf } from './find-model.ts';
import { createLocalEmbedder } from './local-embedder.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tessera-model-'));
  folders.push(folder);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return folder;
}

function findNone(name: string): never {
  throw new Error(`Cannot find module '${name}'`);
}

const MODEL = { 'config.json': '{}', 'tokenizer.json': '{}', 'onnx/model.onnx': '' };

describe('a local model', () => {
  it.each([
    [{}, 'holds no model: config.json is missing'],
    [{ 'config.json': '{}' }, 'holds no model: tokenizer.json is missing'],
    [
      { 'config.json': '{}', 'tokenizer.json': '{}', 'onnx/other.onnx': '' },
      'holds no model: onnx/model.onnx is missing',
    ],
  ])('is missed where a folder holds only %o', async (files, message) => {
    const folder = await folderWith({ ...files });
    await expect(createLocalEmbedder(folder)).rejects.toThrow(`EMBEDDINGS_LOCAL_PATH ${folder} ${message}`);
  });

  it('is missed where there is no folder', async () => {
    const message = 'EMBEDDINGS_LOCAL_PATH /nowhere/model is not a folder that can be read';
    await expect(createLocalEmbedder('/nowhere/model')).rejects.toThrow(message);
  });

  it('needs a package, and says how it is installed', async () => {
    const folder = await folderWith(MODEL);
    await expect(findModel(folder, findNone)).rejects.toThrow(
      'EMBEDDINGS_LOCAL_PATH needs the package @huggingface/transformers, which is not installed: npm install --no-save --ignore-scripts @huggingface/transformers@4.3.1',
    );
  });

  it('is found by its files', async () => {
    const folder = await folderWith({
      ...MODEL,
      '1_Pooling/config.json': '{"pooling_mode_cls_token":true}',
      'config_sentence_transformers.json': '{"prompts":{"query":"query: ","document":"passage: "}}',
    });
    const found = await findModel(folder, (name) => `/node_modules/${name}/main.js`);
    expect(found).toMatchObject({
      library: '/node_modules/@huggingface/transformers/main.js',
      folder,
      subfolder: 'onnx',
      dtype: 'fp32',
      pooling: 'cls',
    });
    expect(found.prefixes).toEqual({ query: 'query: ', passage: 'passage: ' });
    expect(nameOf(found)).toBe(`local:${basename(folder)}:fp32`);
  });
});

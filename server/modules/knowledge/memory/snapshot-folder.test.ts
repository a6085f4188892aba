import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeDataDir, removeDataDirs } from '../../../testing/data-dirs.ts';
import { VectorArena } from '../vectors/vector-arena.ts';
import { BaseIndex } from './base-index.ts';
import { SnapshotFolder } from './snapshot-folder.ts';

afterAll(removeDataDirs);

const BASE = { developerId: 'dev', id: 'kb', no: 1 };
const SPACE = { arena: new VectorArena(), model: 'model' };
const CHUNKS = 1200;

/** An index with enough chunks to be worth a file, every second with metadata of its own. */
async function largeIndex(): Promise<BaseIndex> {
  const index = new BaseIndex();
  for (let no = 1; no <= CHUNKS; no++) {
    const metadata = JSON.stringify(no % 2 === 0 ? { no, text: 'Ü\n' } : {});
    index.addChunk({ documentNo: no, position: 0, metadata, terms: ['all', `only${no}`] });
    index.addVector({ documentNo: no, position: 0 }, Float32Array.of(1 / no, 1), SPACE);
  }
  index.removeDocument(7);
  index.counter = 9;
  index.vectorCounter = 4;
  await index.words.merge();
  return index;
}

test('an index comes back as it was saved', async () => {
  const folder = new SnapshotFolder(join(await makeDataDir(), 'knowledge'));
  const index = await largeIndex();
  await folder.save(BASE, index);
  const read = await folder.read(BASE, SPACE);
  expect(read).toMatchObject({ counter: 9, vectorCounter: 4, chunkCount: CHUNKS });
  for (const term of ['all', 'only7', 'only1200']) {
    expect(read?.words.score([term], read.living)).toEqual(index.words.score([term], index.living));
  }
  const passing = await index.passing({ text: 'Ü\n', no: [8, 9, 1200] });
  expect(await read?.passing({ text: 'Ü\n', no: [8, 9, 1200] })).toEqual(passing);
  expect(passing.reduce((sum, isPassing) => sum + isPassing, 0)).toBe(2);
  expect(read?.vectors?.precise(Float32Array.of(1, 0), 99)).toBe(index.vectors?.precise(Float32Array.of(1, 0), 99));
});

test('what is of another base, developer, way of cutting texts or model is not read', async () => {
  const path = join(await makeDataDir(), 'knowledge');
  const folder = new SnapshotFolder(path, 'these terms');
  await folder.save(BASE, await largeIndex());
  expect(await new SnapshotFolder(path, 'other terms').read(BASE, SPACE)).toBeUndefined();
  expect(await folder.read({ ...BASE, no: 2 }, SPACE)).toBeUndefined();
  expect(await folder.read({ ...BASE, developerId: 'other' }, SPACE)).toBeUndefined();
  const words = await folder.read(BASE, { ...SPACE, model: 'other' });
  expect(words).toMatchObject({ counter: 9, vectorCounter: 0, vectors: undefined });
});

test('a damaged file is not read, and removed', async () => {
  const path = join(await makeDataDir(), 'knowledge');
  await mkdir(path);
  for (const damage of ['', 'junk', 'x'.repeat(5000)]) {
    await writeFile(join(path, 'kb.index'), damage);
    expect(await new SnapshotFolder(path).read(BASE, SPACE)).toBeUndefined();
    expect(await readdir(path)).toEqual([]);
  }
});

import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BaseKey } from '../store/base.store.ts';
import { nextTurn } from '../next-turn.ts';
import { VectorIndex } from '../vectors/vector-index.ts';
import type { VectorSpace } from './apply-changes.ts';
import { BaseIndex, type BaseParts } from './base-index.ts';
import { TERMS_VERSION } from './terms-version.ts';
import { SectionReader, writeSections, type WrittenSection } from './snapshot-file.ts';

/** Of the form of snapshots: another one is not read. */
const VERSION = 2;
/** Chunks from which a base is worth a file. */
const FEWEST_CHUNKS = 500;
/** Bytes, or texts, that are worked on before others have a turn: some milliseconds. */
const PIECE_BYTES = 4 * 1024 * 1024;
const TEXTS_IN_LINE = 1000;
const LINE_END = 0x0a;

interface Facts {
  version: number;
  /** How texts became terms. */
  terms: string;
  developerId: string;
  id: string;
  no: number;
  counter: number;
  vectorCounter: number;
  vectors: { model: string; dimensions: number } | null;
}

/** The vectors of one moment: further ones may come, these stay. */
interface SavedVectors {
  index: VectorIndex;
  chunks: Int32Array;
}

function* piecesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Generator<Uint8Array> {
  for (let at = 0; at < byteLength; at += PIECE_BYTES) {
    yield new Uint8Array(buffer, byteOffset + at, Math.min(PIECE_BYTES, byteLength - at));
  }
}

/** Lines with an array of texts each. */
function* linesOf(texts: readonly string[]): Generator<Uint8Array> {
  for (let at = 0; at < texts.length; at += TEXTS_IN_LINE) {
    yield Buffer.from(`${JSON.stringify(texts.slice(at, at + TEXTS_IN_LINE))}\n`);
  }
}

/** Safe because the check sum says that it is what `linesOf` wrote. */
function parseTexts(line: string): string[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return JSON.parse(line) as string[];
}

async function textsOf(lines: ArrayBuffer): Promise<string[]> {
  const bytes = Buffer.from(lines);
  const texts: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(LINE_END, at);
    texts.push(...parseTexts(bytes.toString('utf8', at, end)));
    at = end + 1;
    await nextTurn();
  }
  return texts;
}

function* sectionsOf(
  { words, metadata, ...parts }: BaseParts,
  vectors: SavedVectors | undefined,
): Generator<WrittenSection> {
  const { starts, chunks, counts, hashes, lengths } = words;
  const { documentNos, firstChunks, metadataNos, documents, isAlive } = parts;
  const arrays = { starts, chunks, counts, hashes, lengths, documentNos, firstChunks, metadataNos, documents, isAlive };
  for (const [name, array] of Object.entries(arrays)) yield { name, pieces: piecesOf(array) };
  yield { name: 'metadata', pieces: linesOf(metadata) };
  if (!vectors) return;
  yield { name: 'vectorChunks', pieces: piecesOf(vectors.chunks) };
  yield { name: 'vectors', pieces: vectors.index.rows(vectors.chunks.length) };
}

async function readParts(reader: SectionReader<Facts>): Promise<BaseParts> {
  const ints = async (name: string): Promise<Int32Array> => new Int32Array(await reader.read(name));
  return {
    words: {
      starts: await ints('starts'),
      chunks: await ints('chunks'),
      counts: new Uint16Array(await reader.read('counts')),
      hashes: await ints('hashes'),
      lengths: await ints('lengths'),
    },
    documentNos: new Float64Array(await reader.read('documentNos')),
    firstChunks: await ints('firstChunks'),
    metadataNos: await ints('metadataNos'),
    metadata: await textsOf(await reader.read('metadata')),
    documents: await ints('documents'),
    isAlive: new Uint8Array(await reader.read('isAlive')),
  };
}

async function readVectors(reader: SectionReader<Facts>, { arena, model }: VectorSpace) {
  const facts = reader.facts.vectors;
  if (facts?.model !== model) return undefined;
  const vectors = new VectorIndex(arena, facts);
  try {
    const chunks = new Int32Array(await reader.read('vectorChunks'));
    let at = 0;
    for await (const piece of reader.pieces('vectors', 4 * facts.dimensions * 256)) {
      const floats = new Float32Array(piece.slice().buffer);
      for (let start = 0; start < floats.length; start += facts.dimensions) {
        vectors.add(chunks[at++] ?? 0, floats.subarray(start, start + facts.dimensions));
      }
    }
    return vectors;
  } catch (error) {
    vectors.release();
    throw error;
  }
}

/** Files from which bases come back into memory faster than from the database. They may be deleted at any time. */
export class SnapshotFolder {
  readonly #folder: string;
  readonly #terms: string;

  constructor(folder: string, terms: string = TERMS_VERSION) {
    this.#folder = folder;
    this.#terms = terms;
  }

  #pathOf({ id }: BaseKey): string {
    return join(this.#folder, `${id}.index`);
  }

  /** The index as it was saved; undefined when there is none, or it is damaged or of another time. */
  async read(base: BaseKey, space: VectorSpace | undefined): Promise<BaseIndex | undefined> {
    const path = this.#pathOf(base);
    try {
      const reader = await SectionReader.open<Facts>(path);
      if (!reader) return undefined;
      try {
        return this.#isOf(base, reader.facts) ? await restore(reader, space) : undefined;
      } finally {
        await reader.close();
      }
    } catch {
      await rm(path, { force: true });
      return undefined;
    }
  }

  #isOf(base: BaseKey, { version, terms, developerId, no }: Facts): boolean {
    return version === VERSION && terms === this.#terms && developerId === base.developerId && no === base.no;
  }

  /** Writes an index whose postings are all merged, as it is at the time of the call. */
  async save(base: BaseKey, index: BaseIndex): Promise<void> {
    if (index.chunkCount < FEWEST_CHUNKS) return;
    const parts = index.parts();
    if (!parts) return;
    const { vectors, counter, vectorCounter } = index;
    const { developerId, id, no } = base;
    const facts: Facts = {
      version: VERSION,
      terms: this.#terms,
      developerId,
      id,
      no,
      counter,
      vectorCounter,
      vectors: vectors ? { model: vectors.model, dimensions: vectors.dimensions } : null,
    };
    const saved = vectors && { index: vectors, chunks: vectors.chunks.slice() };
    await mkdir(this.#folder, { recursive: true });
    const path = this.#pathOf(base);
    const unfinished = `${path}.${randomBytes(6).toString('hex')}`;
    try {
      await writeSections(unfinished, { facts, sections: sectionsOf(parts, saved) });
      await rename(unfinished, path);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
  }

  /** Forgets a base that is gone. */
  async remove(base: BaseKey): Promise<void> {
    await rm(this.#pathOf(base), { force: true });
  }
}

async function restore(reader: SectionReader<Facts>, space: VectorSpace | undefined): Promise<BaseIndex> {
  const { counter, vectorCounter } = reader.facts;
  const index = new BaseIndex(await readParts(reader));
  index.counter = counter;
  if (!space) return index;
  index.vectors = await readVectors(reader, space);
  index.vectorCounter = index.vectors ? vectorCounter : 0;
  return index;
}

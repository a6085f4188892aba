import type { VectorArena } from '../vectors/vector-arena.ts';
import { VectorIndex } from '../vectors/vector-index.ts';
import { Float64Column, Int32Column } from '../words/columns.ts';
import { WordIndex, type WordParts } from '../words/word-index.ts';
import { MetadataSet } from './metadata-set.ts';

/** A chunk as it is taken in. */
export interface IndexedChunk {
  documentNo: number;
  position: number;
  /** JSON text, of the document. */
  metadata: string;
  terms: readonly string[];
}

/** Where a chunk is found in the database. */
export interface ChunkPlace {
  documentNo: number;
  position: number;
}

/** What an index consists of, beside vectors. */
export interface BaseParts {
  words: WordParts;
  /** By document. */
  documentNos: Float64Array;
  firstChunks: Int32Array;
  metadataNos: Int32Array;
  metadata: readonly string[];
  /** By chunk. */
  documents: Int32Array;
  isAlive: Uint8Array;
}

/** Bytes that a document takes in the map of numbers. */
const DOCUMENT_BYTES = 60;
/** Chunks that are gone beyond which, and beyond as many as are there, an index is built anew. */
const MOST_GONE = 2000;

/** A whole base in memory, as of its two counters: words, vectors and metadata, without the texts. */
export class BaseIndex {
  counter = 0;
  vectorCounter = 0;
  readonly words: WordIndex;
  vectors: VectorIndex | undefined;
  readonly metadata: MetadataSet;
  readonly #documentNos: Float64Column;
  readonly #firstChunks: Int32Column;
  readonly #metadataNos: Int32Column;
  /** Document of each chunk. */
  readonly #documents: Int32Column;
  #isAlive: Uint8Array;
  #alive = 0;
  #isReleased = false;
  /** Documents that are there, by their numbers in the database. */
  readonly #byNo = new Map<number, number>();

  constructor(parts?: BaseParts) {
    this.words = new WordIndex(parts?.words);
    this.metadata = new MetadataSet(parts?.metadata);
    this.#documentNos = new Float64Column(parts?.documentNos);
    this.#firstChunks = new Int32Column(parts?.firstChunks);
    this.#metadataNos = new Int32Column(parts?.metadataNos);
    this.#documents = new Int32Column(parts?.documents);
    this.#isAlive = parts?.isAlive ?? new Uint8Array(64);
    for (let chunk = 0; chunk < this.chunkCount; chunk++) this.#alive += this.#isAlive[chunk] ?? 0;
    // The chunks of a document are all there or all gone.
    for (let document = 0; document < this.#documentNos.length; document++) {
      const isThere = this.#isAlive[this.#firstChunks.values[document] ?? 0] === 1;
      if (isThere) this.#byNo.set(this.#documentNos.values[document] ?? 0, document);
    }
    this.words.restore(this.#isAlive);
  }

  get chunkCount(): number {
    return this.#documents.length;
  }

  /** Whether vectors are passed over. */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  get living(): { isAlive: Uint8Array; count: number } {
    return { isAlive: this.#isAlive, count: this.#alive };
  }

  /** Whether so much is gone that it should be built anew. */
  get isWorn(): boolean {
    return this.chunkCount - this.#alive > Math.max(MOST_GONE, this.#alive);
  }

  get bytes(): number {
    const perDocument = 16 * this.#documentNos.values.length + DOCUMENT_BYTES * this.#byNo.size;
    const perChunk = 5 * this.#documents.values.length;
    return this.words.bytes + (this.vectors?.bytes ?? 0) + this.metadata.bytes + perDocument + perChunk;
  }

  /** What it takes once every chunk has a vector like those that are there. */
  get bytesWithAllVectors(): number {
    const { vectors } = this;
    return vectors ? this.bytes + Math.max(0, this.#alive - vectors.count) * vectors.rowBytes : this.bytes;
  }

  /** Everything beside vectors, once no posting waits to be merged. */
  parts(): BaseParts | undefined {
    const words = this.words.parts();
    return (
      words && {
        words,
        documentNos: this.#documentNos.used.slice(),
        firstChunks: this.#firstChunks.used.slice(),
        metadataNos: this.#metadataNos.used.slice(),
        metadata: [...this.metadata.texts],
        documents: this.#documents.used.slice(),
        isAlive: this.#isAlive.slice(0, this.chunkCount),
      }
    );
  }

  /** Takes in a chunk; those of a document come one after the other, in order. */
  addChunk({ documentNo, metadata, terms }: IndexedChunk): void {
    let document = this.#byNo.get(documentNo);
    if (document === undefined) {
      document = this.#documentNos.length;
      this.#byNo.set(documentNo, document);
      this.#documentNos.push(documentNo);
      this.#firstChunks.push(this.chunkCount);
      this.#metadataNos.push(this.metadata.add(metadata));
    }
    const chunk = this.chunkCount;
    this.#documents.push(document);
    if (chunk >= this.#isAlive.length) {
      const grown = new Uint8Array(2 * chunk);
      grown.set(this.#isAlive);
      this.#isAlive = grown;
    }
    this.#isAlive[chunk] = 1;
    this.#alive++;
    this.words.add(terms);
  }

  removeDocument(documentNo: number): void {
    const document = this.#byNo.get(documentNo);
    if (document === undefined) return;
    this.#byNo.delete(documentNo);
    const first = this.#firstChunks.values[document] ?? 0;
    for (let chunk = first; chunk < this.chunkCount && this.#documents.values[chunk] === document; chunk++) {
      this.#isAlive[chunk] = 0;
      this.#alive--;
      this.words.drop(chunk);
    }
  }

  /**
   * Takes in the vector of a chunk; one of a document that is gone is passed over. False when it cannot be compared with
   * the others because it is of another length.
   */
  addVector(place: ChunkPlace, vector: Float32Array, { arena, model }: { arena: VectorArena; model: string }): boolean {
    const document = this.#byNo.get(place.documentNo);
    if (document === undefined || this.#isReleased) return true;
    this.vectors ??= new VectorIndex(arena, { model, dimensions: vector.length });
    if (this.vectors.dimensions !== vector.length) return false;
    this.vectors.add((this.#firstChunks.values[document] ?? 0) + place.position, vector);
    return true;
  }

  placeOf(chunk: number): ChunkPlace {
    const document = this.#documents.values[chunk] ?? 0;
    const position = chunk - (this.#firstChunks.values[document] ?? 0);
    return { documentNo: this.#documentNos.values[document] ?? 0, position };
  }

  /** By chunk, whether it is there and its document passes a filter. */
  async passing(filter: Record<string, unknown>): Promise<Uint8Array> {
    const isPassing = await this.metadata.passing(filter);
    const passing = this.#isAlive.slice(0, this.chunkCount);
    for (let chunk = 0; chunk < passing.length; chunk++) {
      const metadataNo = this.#metadataNos.values[this.#documents.values[chunk] ?? 0] ?? 0;
      if (isPassing[metadataNo] !== true) passing[chunk] = 0;
    }
    return passing;
  }

  /** Gives memory back that nobody else collects. Vectors that come later are passed over. */
  release(): void {
    this.#isReleased = true;
    this.vectors?.release();
    this.vectors = undefined;
  }
}

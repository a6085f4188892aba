import { open, type FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

const MAGIC = 0x7e55e2a1;
const TAIL_BYTES = 12;
const READ_BYTES = 4 * 1024 * 1024;

interface Section {
  name: string;
  bytes: number;
  crc: number;
}

interface Footer<Facts> {
  facts: Facts;
  sections: Section[];
}

/** Bytes to be written under a name, in pieces. */
export interface WrittenSection {
  name: string;
  pieces: Iterable<Uint8Array>;
}

function tailOf(footer: Buffer): Buffer {
  const tail = Buffer.alloc(TAIL_BYTES);
  tail.writeUInt32LE(footer.length, 0);
  tail.writeUInt32LE(crc32(footer), 4);
  tail.writeUInt32LE(MAGIC, 8);
  return tail;
}

/** Writes sections and facts about them; whatever is cut off or altered later is noticed. */
export async function writeSections(
  path: string,
  { facts, sections }: { facts: unknown; sections: Iterable<WrittenSection> },
): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  const written: Section[] = [];
  for (const { name, pieces } of sections) {
    const section = { name, bytes: 0, crc: 0 };
    for (const piece of pieces) {
      section.bytes += piece.byteLength;
      section.crc = crc32(piece, section.crc);
      await file.writeFile(piece);
    }
    written.push(section);
  }
  const footer = Buffer.from(JSON.stringify({ facts, sections: written }));
  await file.writeFile(footer);
  await file.writeFile(tailOf(footer));
}

/** A file of sections, open for reading. */
export class SectionReader<Facts> {
  readonly #file: FileHandle;
  readonly #footer: Footer<Facts>;

  private constructor(file: FileHandle, footer: Footer<Facts>) {
    this.#file = file;
    this.#footer = footer;
  }

  /** Undefined when there is no such file; throws when it is damaged. */
  static async open<Facts>(path: string): Promise<SectionReader<Facts> | undefined> {
    const file = await open(path).catch(() => undefined);
    if (!file) return undefined;
    try {
      return new SectionReader(file, await readFooter<Facts>(file));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get facts(): Facts {
    return this.#footer.facts;
  }

  /** Reads a whole section. */
  async read(name: string): Promise<ArrayBuffer> {
    const bytes = this.#section(name).bytes;
    const whole = new Uint8Array(bytes);
    let at = 0;
    for await (const piece of this.pieces(name)) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole.buffer;
  }

  /** Reads a section in pieces; throws at its end when it is damaged. */
  async *pieces(name: string, pieceBytes: number = READ_BYTES): AsyncGenerator<Uint8Array> {
    const { bytes, crc } = this.#section(name);
    const start = this.#startOf(name);
    const piece = new Uint8Array(Math.min(pieceBytes, bytes));
    let sum = 0;
    for (let at = 0; at < bytes;) {
      const length = Math.min(piece.length, bytes - at);
      const { bytesRead } = await this.#file.read(piece, 0, length, start + at);
      if (bytesRead < length) throw new Error('a snapshot is cut off');
      const read = piece.subarray(0, length);
      sum = crc32(read, sum);
      yield read;
      at += length;
    }
    if (sum !== crc) throw new Error('a snapshot is damaged');
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #section(name: string): Section {
    const section = this.#footer.sections.find((each) => each.name === name);
    if (!section) throw new Error(`a snapshot lacks ${name}`);
    return section;
  }

  #startOf(name: string): number {
    let start = 0;
    for (const section of this.#footer.sections) {
      if (section.name === name) break;
      start += section.bytes;
    }
    return start;
  }
}

/** Safe because the check sum says that it is what was written, and its facts name the version of their form. */
function parseFooter<Facts>(text: string): Footer<Facts> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return JSON.parse(text) as Footer<Facts>;
}

async function readFooter<Facts>(file: FileHandle): Promise<Footer<Facts>> {
  const { size } = await file.stat();
  const tail = Buffer.alloc(TAIL_BYTES);
  await file.read(tail, 0, TAIL_BYTES, Math.max(0, size - TAIL_BYTES));
  const length = tail.readUInt32LE(0);
  if (tail.readUInt32LE(8) !== MAGIC || length + TAIL_BYTES > size) throw new Error('a snapshot is cut off');
  const footer = Buffer.alloc(length);
  await file.read(footer, 0, length, size - TAIL_BYTES - length);
  if (crc32(footer) !== tail.readUInt32LE(4)) throw new Error('a snapshot is damaged');
  return parseFooter<Facts>(footer.toString());
}

import type { DataSection } from './data-sections.ts';

/** A section as the model is shown it. */
export interface FittedSection {
  section: DataSection;
  text: string;
  /** What was left out, in words; undefined when nothing was. */
  omission: string | undefined;
}

interface Taken {
  pieces: string[];
  bytes: number;
  /** The first piece that no longer fitted. */
  next: string | undefined;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text) + 1;
}

/** As many pieces as fit, in order. */
function take(pieces: Iterable<string>, maxBytes: number): Taken {
  const taken: Taken = { pieces: [], bytes: 0, next: undefined };
  for (const piece of pieces) {
    const bytes = bytesOf(piece);
    if (taken.bytes + bytes > maxBytes) return { ...taken, next: piece };
    taken.pieces.push(piece);
    taken.bytes += bytes;
  }
  return taken;
}

/** The beginning of a text, without half a character at its end. */
function beginning(text: string, maxBytes: number): string {
  const cut = Buffer.from(text).subarray(0, Math.max(0, maxBytes)).toString();
  return text.startsWith(cut) ? cut : cut.replace(/\uFFFD+$/, '');
}

/**
 * What each section may have of the whole: small ones all they need, and the others the same share of what is left.
 * Shares are in the order of the sizes.
 */
function sharesOf(sizes: readonly number[], maxBytes: number): number[] {
  const shares = new Map<number, number>();
  let left = maxBytes;
  const bySize = sizes.map((size, index) => ({ size, index })).toSorted((a, b) => a.size - b.size);
  for (const [rank, { size, index }] of bySize.entries()) {
    const share = Math.min(size, Math.floor(left / (sizes.length - rank)));
    shares.set(index, share);
    left -= share;
  }
  return sizes.map((_size, index) => shares.get(index) ?? 0);
}

function cutSection(section: DataSection, { pieces, next = '' }: Taken, share: number): FittedSection {
  const fitting = take([...pieces, next], share);
  // A piece that is larger than the share shows at least how it begins.
  const begun = fitting.pieces.length === 0 ? beginning(fitting.next ?? '', share) : undefined;
  const text = begun ?? fitting.pieces.join('\n');
  const { unit } = section;
  const total = [...section.pieces()].length;
  const shown =
    begun === undefined
      ? `the first ${fitting.pieces.length} of ${total} ${unit}`
      : `the first ${text.length} of ${fitting.next?.length} characters`;
  const place = begun === undefined || unit === 'characters' ? '' : ` of the first of ${total} ${unit}`;
  return { section, text, omission: `${shown}${place} are shown; the rest was left out because it is too large` };
}

/** Shows as much of every section as fits into so many bytes together, cut between pieces where there are any. */
export function fitSections(sections: readonly DataSection[], maxBytes: number): FittedSection[] {
  const taken = sections.map((section) => take(section.pieces(), maxBytes));
  const sizes = taken.map(({ bytes, next }) => bytes + (next === undefined ? 0 : bytesOf(next)));
  const shares = sharesOf(sizes, maxBytes);
  return sections.map((section, index) => {
    const own = taken[index] ?? { pieces: [], bytes: 0, next: undefined };
    const share = shares[index] ?? 0;
    const isWhole = own.next === undefined && own.bytes <= share;
    return isWhole ? { section, text: own.pieces.join('\n'), omission: undefined } : cutSection(section, own, share);
  });
}

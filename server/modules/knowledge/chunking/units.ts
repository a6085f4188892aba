import { costAt, costOf, MOST_COST } from './cost.ts';
import type { Block } from './blocks.ts';
import { isItem, isTableRule, linesOf } from './lines.ts';

/** A piece that is not cut: a sentence, a row, an item. Never longer than a chunk, unless it has to stay together. */
export interface Unit {
  start: number;
  end: number;
  cost: number;
}

const SENTENCE_END = /[。！？；!?.…]+["'”’」』）)\]]*/gu;
const WIDE_END = /[。！？；…]/u;
const SPACE = /\s/u;
/** Lines after which a reader may pause. */
const PAUSE_LINES = 2000;
/** Characters before which a long sentence is rather cut, the best first. */
const SEAMS = ['\n', '，', '、', ',', ';', ':', ' '];

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || (code > 0x7f && SPACE.test(String.fromCharCode(code)));
}

function trimmed(content: string, from: number, to: number): { start: number; end: number } {
  let start = from;
  let end = to;
  while (start < end && isSpace(content.charCodeAt(start))) start++;
  while (end > start && isSpace(content.charCodeAt(end - 1))) end--;
  return { start, end };
}

/** Where a piece that begins at `start` has to end, at the latest, to fit. */
function latestEnd(content: string, { start, end }: { start: number; end: number }): number {
  let at = start;
  for (let cost = 0; at < end; at++) {
    cost += costAt(content, at);
    if (cost > MOST_COST) break;
  }
  const isInsidePair = at < end && at > start + 1 && (content.charCodeAt(at) & 0xfc00) === 0xdc00;
  return isInsidePair ? at - 1 : at;
}

/** The best place to cut, near the end of what fits. */
function seamOf(content: string, start: number, latest: number): number {
  const earliest = start + Math.floor((latest - start) / 2);
  const latter = content.slice(earliest, latest);
  for (const seam of SEAMS) {
    const at = latter.lastIndexOf(seam);
    if (at !== -1) return earliest + at + 1;
  }
  return latest;
}

/** A range as one unit, or in pieces where it is longer than a chunk. */
function* piecesOf(content: string, range: { start: number; end: number }): Generator<Unit> {
  let { start, end } = trimmed(content, range.start, range.end);
  while (start < end) {
    const latest = latestEnd(content, { start, end });
    const cut = latest === end ? end : seamOf(content, start, latest);
    const piece = trimmed(content, start, cut);
    yield { ...piece, cost: costOf(content, piece) };
    ({ start, end } = trimmed(content, cut, end));
  }
}

function* sentencesOf(content: string, { start, end }: { start: number; end: number }): Generator<Unit> {
  const text = content.slice(start, end);
  let from = 0;
  for (const { 0: mark, index } of text.matchAll(SENTENCE_END)) {
    const after = index + mark.length;
    // A full stop inside of 3.5 or example.com ends nothing.
    if (after < text.length && !WIDE_END.test(mark) && !isSpace(text.charCodeAt(after))) continue;
    yield* piecesOf(content, { start: start + from, end: start + after });
    from = after;
  }
  yield* piecesOf(content, { start: start + from, end });
}

/** Ranges of the lines, joined where `joins` says that a line belongs to the one before. */
function* linesIn(
  content: string,
  { start, end }: Block,
  joins: (head: string) => boolean,
): Generator<Unit | undefined> {
  let from = start;
  let count = 0;
  for (let at = content.indexOf('\n', start); at !== -1 && at < end; at = content.indexOf('\n', at + 1)) {
    if (++count % PAUSE_LINES === 0) yield undefined;
    if (joins(content.slice(at + 1, Math.min(end, at + 60)))) continue;
    yield* piecesOf(content, { start: from, end: at });
    from = at + 1;
  }
  yield* piecesOf(content, { start: from, end });
}

function isInsideItem(next: string): boolean {
  const [head = ''] = next.split('\n', 1);
  return !isItem({ start: 0, end: head.length, head });
}

/** Characters of a table's head that are matched with its rows. */
const TABLE_HEAD_LENGTH = 300;

/** The first row of a table, if it says what the others hold. */
export function tableHeadOf(content: string, { kind, start, end }: Block): string {
  if (kind !== 'table') return '';
  const [head, rule] = [...linesOf(content.slice(start, Math.min(end, start + 4 * TABLE_HEAD_LENGTH)))];
  return head && rule && isTableRule(rule) ? head.head.slice(0, TABLE_HEAD_LENGTH).trim() : '';
}

/** The pieces of a block that are rather not cut; undefined now and then, so that a reader can pause. */
export function unitsOf(content: string, block: Block): Generator<Unit | undefined> {
  if (block.kind === 'list' || block.kind === 'steps') return linesIn(content, block, isInsideItem);
  if (block.kind === 'table' || block.kind === 'code') return linesIn(content, block, () => false);
  return sentencesOf(content, block);
}

/** A block as a single unit, if it costs at most so much. */
export function wholeUnit(content: string, block: Block, most: number): Unit | undefined {
  const range = trimmed(content, block.start, block.end);
  const cost = costOf(content, range, most + 1);
  return cost > most ? undefined : { ...range, cost };
}

import {
  endsAsQuestion,
  fenceOf,
  headingOf,
  isBlank,
  isIndented,
  isItem,
  isMarkedQuestion,
  isNumbered,
  isTableRow,
  linesOf,
  mayBeHeading,
  underlineLevel,
  type Line,
} from './lines.ts';

/** A part of a document as Markdown sees it; plain text is paragraphs. */
export interface Block {
  kind: 'paragraph' | 'list' | 'steps' | 'table' | 'code' | 'heading';
  start: number;
  end: number;
  /** Of a heading. */
  level: number;
  title: string;
  /** Whether a question stands at its beginning. */
  isQuestion: boolean;
}

/** Lines after which a reader may pause. */
const PAUSE_LINES = 2000;

/** What is known of the block that is being read. */
interface OpenBlock extends Block {
  lines: number;
  fence: string;
  /** A blank line was read, after which only some lines belong to it. */
  isInterrupted: boolean;
}

function openBlock(line: Line): OpenBlock {
  const { start, end } = line;
  const fence = fenceOf(line) ?? '';
  const heading = headingOf(line);
  const isQuestion = isMarkedQuestion(line) || endsAsQuestion(line);
  const kind = kindOf(line, fence, heading !== undefined);
  const { level = 0, title = '' } = heading ?? {};
  return { kind, start, end, level, title, isQuestion, lines: 1, fence, isInterrupted: false };
}

function kindOf(line: Line, fence: string, isHeading: boolean): Block['kind'] {
  if (fence !== '') return 'code';
  if (isHeading) return 'heading';
  if (isTableRow(line)) return 'table';
  if (isItem(line)) return isNumbered(line) ? 'steps' : 'list';
  return 'paragraph';
}

function isClosingFence(line: Line, fence: string): boolean {
  const found = fenceOf(line);
  return found !== undefined && found.startsWith(fence) && line.head.trim() === found;
}

/** Whether a line belongs to the block that is open; takes it in if so. */
function takes(block: OpenBlock, line: Line): boolean {
  const isTaken = belongs(block, line);
  if (!isTaken) return false;
  if (!isBlank(line)) block.end = line.end;
  block.lines++;
  return true;
}

function belongs(block: OpenBlock, line: Line): boolean {
  if (block.kind === 'heading') return false;
  if (block.kind === 'code') return block.fence !== '';
  if (fenceOf(line) !== undefined && !isIndented(line)) return false;
  if (headingOf(line)) return false;
  if (block.kind === 'table') return isTableRow(line);
  if (block.kind === 'paragraph') return !isBlank(line) && !isTableRow(line) && !isItem(line);
  // A list goes on behind a blank line with its next item, or what is indented.
  const goesOn = !block.isInterrupted || isIndented(line) || isItem(line) || isBlank(line);
  block.isInterrupted = isBlank(line);
  return goesOn;
}

/** Whether a question begins inside of an open block. */
function splitsAt(block: OpenBlock, line: Line): boolean {
  if (block.kind === 'code') return false;
  return isMarkedQuestion(line) || ((block.isQuestion || isItem(line)) && endsAsQuestion(line));
}

/** The heading that a paragraph of one line is made by the line below it. */
function underlined(content: string, block: OpenBlock | undefined, line: Line): Block | undefined {
  if (block?.kind !== 'paragraph' || block.lines > 1 || !mayBeHeading(block)) return undefined;
  const level = underlineLevel(line);
  if (level === undefined) return undefined;
  return { ...block, kind: 'heading', level, title: content.slice(block.start, block.end).trim() };
}

/**
 * The blocks of a document in their order; blank lines belong to none. With `splitsQuestions`, a line that is a question
 * begins a block. Gives undefined now and then, so that a reader can pause.
 */
export function* blocksOf(
  content: string,
  { splitsQuestions }: { splitsQuestions: boolean },
): Generator<Block | undefined> {
  let open: OpenBlock | undefined;
  let count = 0;
  for (const line of linesOf(content)) {
    if (++count % PAUSE_LINES === 0) yield undefined;
    const heading = underlined(content, open, line);
    if (open?.kind === 'code' && isClosingFence(line, open.fence)) {
      yield { ...open, end: line.end };
      open = undefined;
    } else if (heading) {
      yield heading;
      open = undefined;
    } else if (!open || (splitsQuestions && splitsAt(open, line)) || !takes(open, line)) {
      if (open) yield open;
      open = isBlank(line) ? undefined : openBlock(line);
    }
  }
  if (open) yield open;
}

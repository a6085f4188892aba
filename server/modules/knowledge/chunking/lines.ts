/** A line of a document without its end. */
export interface Line {
  start: number;
  end: number;
  /** How it begins: enough to tell what it is. */
  head: string;
}

/** Characters of a line that are looked at. */
const HEAD_LENGTH = 400;
/** A longer line is text. */
const HEADING_LENGTH = 300;

export function* linesOf(content: string): Generator<Line, undefined> {
  for (let start = 0; start < content.length;) {
    const found = content.indexOf('\n', start);
    const next = found === -1 ? content.length : found + 1;
    const end = found === -1 ? content.length : found;
    yield { start, end, head: content.slice(start, Math.min(end, start + HEAD_LENGTH)).trimEnd() };
    start = next;
  }
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/u;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/u;
/** A chapter of a Chinese text, which has no marks: `第一章 总则`. A sentence about one goes on behind the sign. */
const CHAPTER =
  /^[ 　]{0,4}第[一二三四五六七八九十百零〇\d]{1,6}(编|篇|部分|章|节)(?:[\s:：、.].{0,40})?(?<![。；，！？])$/u;
const CHAPTER_LEVELS = new Map([
  ['章', 2],
  ['节', 3],
]);
const UNDERLINE = /^ {0,3}(=+|-{3,})$/u;
const TABLE_ROW = /^\s*\|/u;
const TABLE_RULE = /^\s*\|(?:\s*:?-+:?\s*\|)+$/u;
const NUMBERED =
  /^\s*(?:\d{1,9}[.)、．]|[(（]\d{1,9}[)）]|(?:step|schritt)\s*\d+|第[一二三四五六七八九十百\d]+步|步骤\s*[一二三四五六七八九十\d]+)/iu;
const BULLET = /^\s*(?:[-*+•][ \t]|[-*+•]$)/u;
const INDENTED = /^(?:\t| {2,})\S/u;
const QUESTION_MARKER = /^[\s*_>#-]*(?:Q\d*|question(?: ?\d+)?|[问問]题?題?\d*|提问)[\s*_]*[:：.、]/iu;
const QUESTION_END = /[?？][\s"”'’*_)）]{0,8}$/u;

/** What opens a code block; a line like it, at least as long, closes it. */
export function fenceOf({ head }: Line): string | undefined {
  return FENCE.exec(head)?.[1];
}

export function headingOf({ start, end, head }: Line): { level: number; title: string } | undefined {
  if (end - start > HEADING_LENGTH) return undefined;
  const chapter = CHAPTER.exec(head)?.[1];
  if (chapter !== undefined) return { level: CHAPTER_LEVELS.get(chapter) ?? 1, title: head.trim() };
  const match = HEADING.exec(head);
  if (!match) return undefined;
  return { level: (match[1] ?? '').length, title: (match[2] ?? '').replace(/(?:^|\s)#+\s*$/u, '').trim() };
}

/** Whether a line may be made a heading by the line below it. */
export function mayBeHeading({ start, end }: { start: number; end: number }): boolean {
  return end - start <= HEADING_LENGTH;
}

/** The level that a line gives to the line above it. */
export function underlineLevel({ head }: Line): number | undefined {
  const mark = UNDERLINE.exec(head)?.[1];
  return mark === undefined ? undefined : mark.startsWith('=') ? 1 : 2;
}

export function isBlank({ head }: Line): boolean {
  return head === '';
}

export function isTableRow({ head }: Line): boolean {
  return TABLE_ROW.test(head);
}

/** The line between the head of a table and its rows. */
export function isTableRule({ head }: Line): boolean {
  return TABLE_RULE.test(head);
}

export function isNumbered({ head }: Line): boolean {
  return NUMBERED.test(head);
}

export function isItem(line: Line): boolean {
  return BULLET.test(line.head) || isNumbered(line);
}

export function isIndented({ head }: Line): boolean {
  return INDENTED.test(head);
}

/** Whether a line says of itself that it is a question: `Q:`, `问：`. */
export function isMarkedQuestion({ head }: Line): boolean {
  return QUESTION_MARKER.test(head);
}

export function endsAsQuestion({ start, end, head }: Line): boolean {
  return end - start <= HEAD_LENGTH && QUESTION_END.test(head.slice(-10));
}

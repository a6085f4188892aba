/** Quarters of a token that a chunk may have: about 400 tokens. */
export const MOST_COST = 1600;
/** Quarters of a token that a chunk repeats of the one before. */
export const OVERLAP_COST = 240;

/** From here on, characters are mostly tokens by themselves: ideographs, kana, Hangul. */
const FIRST_WIDE = 0x2e80;
const WIDE_COST = 3;

/** What a code unit costs: four letters are about a token, and four ideographs are about three. */
export function costAt(content: string, at: number): number {
  return content.charCodeAt(at) < FIRST_WIDE ? 1 : WIDE_COST;
}

/** What a range costs, at most `most`: reading ends there. */
export function costOf(content: string, { start, end }: { start: number; end: number }, most = Infinity): number {
  let cost = 0;
  for (let at = start; at < end && cost < most; at++) cost += costAt(content, at);
  return cost;
}

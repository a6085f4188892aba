const NEEDS_ESCAPE = /["\\]/g;

function quote(text: string): string {
  return `"${text.replace(NEEDS_ESCAPE, '\\$&')}"`;
}

/** Texts as an array literal of PostgreSQL. Far faster than the driver's own for long lists. */
export function arrayOf(texts: readonly string[]): string {
  return `{${texts.map(quote).join(',')}}`;
}

/** Numbers as an array literal. */
export function numbersOf(numbers: readonly number[]): string {
  return `{${numbers.join(',')}}`;
}

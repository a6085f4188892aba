const NEEDS_ESCAPE = /["\\]/g;

function quote(text: string): string {
  return `"${text.replace(NEEDS_ESCAPE, '\\$&')}"`;
}

/** Texts as an array literal of PostgreSQL, null as NULL. Far faster than the driver's own for long lists. */
export function arrayOf(texts: readonly (string | null)[]): string {
  return `{${texts.map((text) => (text === null ? 'NULL' : quote(text))).join(',')}}`;
}

/** Integers as an array literal. */
export function intArrayOf(numbers: readonly number[] | Int32Array): string {
  return `{${numbers.join(',')}}`;
}

/** An escaped backslash, or what JSON can spell and jsonb cannot hold: U+0000 and, in well-formed JSON, lone surrogates. */
const ESCAPES = /\\(?:\\|u0000|ud[89a-f][0-9a-f]{2})/g;

/** JSON text that PostgreSQL takes as json and jsonb: U+0000 and lone surrogates become U+FFFD, in keys as well. */
export function storableJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\u')) return text;
  return text.replace(ESCAPES, (escape) => (escape === '\\\\' ? escape : '\uFFFD'));
}

import { RE2JS } from 're2js';

/** What the schema compiler needs of a pattern. */
interface Pattern {
  test: (text: string) => boolean;
  /** The compiler tells patterns apart by their text. */
  toString: () => string;
}

/**
 * Patterns of schemas run on RE2, whose time grows with the length of the text alone: there is no pattern that hangs.
 * Look-around and back-references do not exist there and are refused when the schema is compiled.
 */
function compilePattern(source: string): Pattern {
  const compiled = RE2JS.compile(RE2JS.translateRegExp(source));
  return { test: (text) => compiled.matcher(text).find(), toString: () => source };
}

/** In the form that Ajv takes; `code` would name it in generated files, which are never written. */
export const linearRegExp = Object.assign(compilePattern, { code: 'linearRegExp' });

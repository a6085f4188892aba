/** A code fence around all of a text, with or without the name of a language. */
const FENCE = /^```[^\n`]*\n([\s\S]*?)\n?```$/;

/** A fenced block anywhere in a text. */
const FENCES = /^```[^\n`]*\n([\s\S]*?)\n```[ \t]*$/gm;

export type JsonAnswer = { json: string } | { mistake: string };

function mistakeIn(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The JSON text in a model's answer: all of it, or its only code block. Otherwise what is wrong with it. */
export function jsonAnswer(answer: string): JsonAnswer {
  const text = answer.replace(/^\uFEFF/, '').trim();
  const whole = FENCE.exec(text)?.[1] ?? text;
  const mistake = mistakeIn(whole);
  if (mistake === undefined) return { json: whole.trim() };
  const blocks = [...text.matchAll(FENCES)].map(([, block = '']) => block.trim());
  const [only] = blocks;
  if (blocks.length === 1 && only !== undefined && mistakeIn(only) === undefined) return { json: only };
  return { mistake: text === '' ? 'it is empty' : mistake };
}

/** Up to here, length of the text times length of the part, the search of the engine is fast whatever the two are. */
const SMALL = 10_000_000;

/** For each length of a matched beginning of `part`, how much of it is matched still when the next unit is not. */
function fallbacksOf(part: string): Uint32Array {
  const fallbacks = new Uint32Array(part.length);
  for (let i = 1, matched = 0; i < part.length; i++) {
    while (matched > 0 && part.charCodeAt(i) !== part.charCodeAt(matched)) matched = fallbacks[matched - 1] ?? 0;
    if (part.charCodeAt(i) === part.charCodeAt(matched)) matched++;
    fallbacks[i] = matched;
  }
  return fallbacks;
}

/**
 * Whether a text contains another, in time linear in both: String.includes multiplies their lengths when both repeat
 * themselves, which for texts of megabytes takes minutes that nothing can interrupt. Knuth, Morris and Pratt (1977).
 */
export function containsText(text: string, part: string): boolean {
  if (part.length > text.length) return false;
  if (text.length * part.length <= SMALL) return text.includes(part);
  const fallbacks = fallbacksOf(part);
  for (let i = 0, matched = 0; i < text.length; i++) {
    while (matched > 0 && text.charCodeAt(i) !== part.charCodeAt(matched)) matched = fallbacks[matched - 1] ?? 0;
    if (text.charCodeAt(i) === part.charCodeAt(matched)) matched++;
    if (matched === part.length) return true;
  }
  return false;
}

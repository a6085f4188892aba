import type { Place } from './run.ts';

const PLAIN = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u;
const MAX_SHOWN = 60;

/** One step of a path as a reader writes it: `.name`, `[0]`, or `["any text"]`. */
export function pathStep(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`;
  const shown = key.length > MAX_SHOWN ? `${key.slice(0, MAX_SHOWN)}…` : key;
  return PLAIN.test(shown) ? `.${shown}` : `[${JSON.stringify(shown)}]`;
}

/** The name of a field of the input, such as `input.items[0].price`. */
export function fieldPath(place: Place | undefined): string {
  let path = '';
  for (let at = place; at; at = at.parent) path = pathStep(at.key) + path;
  return `input${path}`;
}

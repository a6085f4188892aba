import { randomBytes } from 'node:crypto';

export type IdPrefix =
  | 'dev'
  | 'key'
  | 'tool'
  | 'pack'
  | 'app'
  | 'inst'
  | 'evt'
  | 'req'
  | 'use'
  | 'turn'
  | 'hook'
  | 'dlv'
  | 'call'
  | 'wf'
  | 'run'
  | 'agent'
  | 'kb'
  | 'doc'
  | 'proc';

/** Crockford's base 32 in lower case: sorts like the number it spells. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_LENGTH = 10;
const RANDOM_LENGTH = 16;
const RANDOM_POOL_BYTES = 8192;

/** The alphabet as bytes: spelled there and made a text at once, an id takes half the time. */
const LETTERS = Buffer.from(ALPHABET, 'latin1');
const spelling = Buffer.alloc(RANDOM_LENGTH);

let pool = randomBytes(RANDOM_POOL_BYTES);
let poolOffset = 0;
let lastMs = 0;
let lastTime = '';

function timePart(ms: number): string {
  if (ms === lastMs) return lastTime;
  let rest = ms;
  let spelled = '';
  for (let i = 0; i < TIME_LENGTH; i++) {
    spelled = ALPHABET.charAt(rest % 32) + spelled;
    rest = Math.floor(rest / 32);
  }
  lastMs = ms;
  lastTime = spelled;
  return spelled;
}

/** A new identifier: prefix, 48 bits of milliseconds, 80 random bits; e.g. `tool_01hzx3...`. */
export function createId(prefix: IdPrefix, nowMs: number = Date.now()): string {
  if (poolOffset + RANDOM_LENGTH > pool.length) {
    pool = randomBytes(RANDOM_POOL_BYTES);
    poolOffset = 0;
  }
  for (let i = 0; i < RANDOM_LENGTH; i++) spelling[i] = LETTERS[(pool[poolOffset + i] ?? 0) & 31] ?? 0;
  poolOffset += RANDOM_LENGTH;
  return `${prefix}_${timePart(nowMs)}${spelling.toString('latin1')}`;
}

/** What no id of this prefix made before the moment is behind, and none made from then on is before. */
export function firstIdAt(prefix: IdPrefix, ms: number): string {
  return `${prefix}_${timePart(ms)}`;
}

/** When an id was made, in Unix milliseconds. */
export function timeOfId(id: string): number {
  const start = id.indexOf('_') + 1;
  let ms = 0;
  for (let i = start; i < start + TIME_LENGTH; i++) ms = ms * 32 + ALPHABET.indexOf(id.charAt(i));
  return ms;
}

const ID = /^[a-z]{2,8}_[0-9a-hjkmnp-tv-z]{26}$/;

/** Whether the text has the form of an identifier with this prefix. Anything else cannot name a record. */
export function isId(prefix: IdPrefix, value: string): boolean {
  return value.startsWith(`${prefix}_`) && ID.test(value);
}

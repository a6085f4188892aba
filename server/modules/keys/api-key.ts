import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY_PREFIX = 'tsk_';
const SECRET_PREFIX = 'tss_';
const BODY_LENGTH = 32;
const SECRET_LENGTH = 40;
const CHECKSUM_LENGTH = 6;
const KEY_FORM = /^tsk_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/** Characters of a key that a list may show. */
const SHOWN_LENGTH = 12;

function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62.charAt(randomInt(BASE62.length))).join('');
}

/** CRC-32 in base 62, highest digit first: 62^6 exceeds 2^32, so six characters always hold it. */
function checksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}

/** A new key value: `tsk_`, 32 random base-62 characters (190 bits), and a checksum of those. */
export function mintKey(): string {
  const body = randomBase62(BODY_LENGTH);
  return `${KEY_PREFIX}${body}${checksum(body)}`;
}

/** A new secret to go with a key. */
export function mintSecret(): string {
  return SECRET_PREFIX + randomBase62(SECRET_LENGTH);
}

/** Whether a value can be a key of ours. Typing errors and junk are told apart from keys without asking the database. */
export function isWellFormedKey(value: string): boolean {
  const parts = KEY_FORM.exec(value);
  return parts?.[1] !== undefined && checksum(parts[1]) === parts[2];
}

/** What is stored of a key or a secret: SHA-256, hex. The values are random, so no salt or stretching is needed. */
export function fingerprint(value: string): string {
  return hash('sha256', value, 'hex');
}

/** Longer values are no keys of ours, and are not kept. */
const MAX_KEPT_LENGTH = 128;

/** Gives fingerprints of values that come again and again; those of the latest are remembered. */
export function rememberingFingerprint(most: number): (value: string) => string {
  const known = new Map<string, string>();
  return (value) => {
    const remembered = known.get(value);
    if (remembered !== undefined) return remembered;
    const made = fingerprint(value);
    if (value.length > MAX_KEPT_LENGTH) return made;
    if (known.size >= most) known.clear();
    known.set(value, made);
    return made;
  };
}

/** The start of a key, for lists. */
export function shownStart(key: string): string {
  return key.slice(0, SHOWN_LENGTH);
}

import { createHash, randomBytes } from 'node:crypto';

const MASTER_KEY_BYTES = 32;

/** A key under which everything is sealed. */
export interface MasterKey {
  /** 8 hex digits of its SHA-256; sealed texts carry it. */
  id: string;
  bytes: Buffer;
}

/** Throws TypeError for another size. */
export function masterKeyOf(bytes: Buffer): MasterKey {
  if (bytes.length !== MASTER_KEY_BYTES) throw new TypeError(`the master key must be ${MASTER_KEY_BYTES} bytes`);
  return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 8), bytes };
}

export function createMasterKey(): MasterKey {
  return masterKeyOf(randomBytes(MASTER_KEY_BYTES));
}

/** The keys of a text, each 32 bytes in base64, between commas or line breaks; undefined when it is anything else. */
export function decodeMasterKeys(text: string): [MasterKey, ...MasterKey[]] | undefined {
  const parts = text.split(/[,\s]+/);
  if (!parts.every((part) => /^[A-Za-z0-9+/]{43}=?$/.test(part))) return undefined;
  const [first, ...others] = parts.map((part) => masterKeyOf(Buffer.from(part, 'base64')));
  return first && [first, ...others];
}

/** A key a line. */
export function encodeMasterKeys(keys: readonly MasterKey[]): string {
  return keys.map(({ bytes }) => `${bytes.toString('base64')}\n`).join('');
}

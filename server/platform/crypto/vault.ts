import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Transaction } from '../db/index.ts';
import type { MasterKey } from './master-key.ts';
import type { MasterKeys } from './master-keys.ts';
import { holdPresentKey } from './present-key.store.ts';

const VERSION = 'v1';
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Where a sealed text is stored. It opens there and nowhere else. */
export interface SealPlace {
  /** What it is for, such as `webhook-secret`. Each purpose has a key of its own. */
  purpose: string;
  developerId: string;
  /** Id of the row. */
  row: string;
  /** Column, or path inside of it. */
  field: string;
}

/** Gives printable ASCII; another one for the same text every time. */
export type Seal = (place: SealPlace, text: string) => string;

export interface Vault {
  /**
   * For texts that this transaction writes. A rotation of the master key waits for its end, so that none of them is
   * left behind under the key before.
   */
  sealer: (tx: Transaction) => Promise<Seal>;
  /** Throws VaultError when the text was not sealed for this place under a key that is there, or was changed since. */
  open: (place: SealPlace, sealed: string) => string;
  /** Whether the text is sealed under the key that seals now. */
  isPresent: (sealed: string) => boolean;
}

/**
 * `other_key`: sealed under another master key. `malformed`: not a sealed text. `refused`: changed, or of another
 * place; the two cannot be told apart.
 */
type VaultFailure = 'other_key' | 'malformed' | 'refused';

/** A sealed text that cannot be opened. The message holds neither text nor key. */
export class VaultError extends Error {
  readonly kind: VaultFailure;

  constructor(kind: VaultFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'VaultError';
    this.kind = kind;
  }
}

/** An array in JSON, so that no two places are written the same way, whatever characters they hold. */
function placeBytes({ developerId, row, field }: SealPlace): Buffer {
  return Buffer.from(JSON.stringify([developerId, row, field]));
}

function malformed(): VaultError {
  return new VaultError('malformed', 'This is not a sealed text, or a part of one.');
}

/** Decoding alone overlooks foreign characters and the spare bits of the last one. */
function decodeStrictly(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) throw malformed();
  return bytes;
}

function parse(sealed: string): { keyId: string; content: string } {
  const [, keyId, content] = /^v1\.([0-9a-f]{8})\.([\w-]+)$/.exec(sealed) ?? [];
  if (keyId === undefined || content === undefined) throw malformed();
  return { keyId, content };
}

/** The key of a purpose, derived from a master key once. */
function createKeyring(): (master: MasterKey, purpose: string) => Buffer {
  const derived = new Map<string, Buffer>();
  return (master, purpose) => {
    const name = `${master.id} ${purpose}`;
    const known = derived.get(name);
    if (known) return known;
    const key = Buffer.from(hkdfSync('sha256', master.bytes, '', `tessera ${purpose}`, 32));
    derived.set(name, key);
    return key;
  };
}

/**
 * AES-256-GCM under a key per purpose (HKDF-SHA256 of the master key), the place as associated data, a random nonce of
 * 96 bits (NIST SP 800-38D: good for 2^32 texts a key). Sealed form: `v1.<key id>.<base64url of nonce, text, tag>`;
 * the key id tells which of the keys opens it, or is missing.
 */
export function createVault(keys: MasterKeys): Vault {
  const keyOf = createKeyring();
  return {
    sealer: async (tx) => {
      await holdPresentKey(tx);
      const master = keys.present();
      return (place, text) =>
        `${VERSION}.${master.id}.${encrypt(keyOf(master, place.purpose), place, text).toString('base64url')}`;
    },
    open: (place, sealed) => {
      const { keyId, content } = parse(sealed);
      const master = keys.find(keyId);
      if (!master) {
        const inUse = keys.present().id;
        throw new VaultError('other_key', `Sealed under the ENCRYPTION_KEY ${keyId}; the one in use is ${inUse}.`);
      }
      return decrypt(keyOf(master, place.purpose), place, decodeStrictly(content));
    },
    isPresent: (sealed) => parse(sealed).keyId === keys.present().id,
  };
}

function encrypt(key: Buffer, place: SealPlace, text: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(placeBytes(place));
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Buffer, place: SealPlace, bytes: Buffer): string {
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(placeBytes(place));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch (error) {
    throw new VaultError('refused', 'A sealed text was changed, or belongs to another place.', { cause: error });
  }
}

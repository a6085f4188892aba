import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { MASTER_KEY_BYTES } from './master-key.ts';

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

export interface Vault {
  /** Gives printable ASCII; another one for the same text every time. */
  seal: (place: SealPlace, text: string) => string;
  /** Throws VaultError when the text was not sealed for this place under this key, or was changed since. */
  open: (place: SealPlace, sealed: string) => string;
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

/**
 * AES-256-GCM under a key per purpose (HKDF-SHA256 of the master key), the place as associated data, a random nonce of
 * 96 bits (NIST SP 800-38D: good for 2^32 texts a key). Sealed form: `v1.<key id>.<base64url of nonce, text, tag>`;
 * the key id, 8 hex digits of the master key's SHA-256, tells which key is missing.
 */
export function createVault(masterKey: Buffer): Vault {
  if (masterKey.length !== MASTER_KEY_BYTES) throw new TypeError(`the master key must be ${MASTER_KEY_BYTES} bytes`);
  const keyId = createHash('sha256').update(masterKey).digest('hex').slice(0, 8);
  const keys = new Map<string, Buffer>();
  const keyOf = (purpose: string): Buffer => {
    const known = keys.get(purpose);
    if (known) return known;
    const key = Buffer.from(hkdfSync('sha256', masterKey, '', `tessera ${purpose}`, 32));
    keys.set(purpose, key);
    return key;
  };
  return {
    seal: (place, text) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, keyOf(place.purpose), nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(placeBytes(place));
      const bytes = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${VERSION}.${keyId}.${bytes.toString('base64url')}`;
    },
    open: (place, sealed) => {
      const [, sealedUnder, content] = /^v1\.([0-9a-f]{8})\.([\w-]+)$/.exec(sealed) ?? [];
      if (sealedUnder === undefined || content === undefined) throw malformed();
      if (sealedUnder !== keyId) {
        throw new VaultError(
          'other_key',
          `Sealed under the ENCRYPTION_KEY ${sealedUnder}; the one in use is ${keyId}.`,
        );
      }
      return decrypt(keyOf(place.purpose), place, decodeStrictly(content));
    },
  };
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

import { createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Transaction } from '../db/index.ts';
import { createVault, fixedKeys, VaultError, type SealPlace } from './index.ts';
import { masterKeyOf } from './master-key.ts';

const KEY = Buffer.alloc(32, 7);
const vault = createVault(fixedKeys([masterKeyOf(KEY)]));
/** The lock that sealing takes is told of by the tests of the rotation. */
const tx = new Transaction(() => Promise.resolve({ rows: [], rowCount: 0 }));
const seal = await vault.sealer(tx);
const PLACE: SealPlace = { purpose: 'webhook-secret', developerId: 'dev_1', row: 'wh_1', field: 'secret' };

function failureOf(open: () => string): string {
  try {
    return `opened: ${open()}`;
  } catch (error) {
    return error instanceof VaultError ? error.kind : `another error: ${String(error)}`;
  }
}

test('any text comes back as it was, at its place', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), fc.string(), (text, row, field) => {
      const place = { ...PLACE, row, field };
      expect(vault.open(place, seal(place, text))).toBe(text);
    }),
  );
  expect(vault.open(PLACE, seal(PLACE, ''))).toBe('');
});

test('the sealed form stays readable by later versions', () => {
  const sealed = seal(PLACE, 'whsec_secret');
  const keyId = createHash('sha256').update(KEY).digest('hex').slice(0, 8);
  expect(sealed).toMatch(new RegExp(`^v1\\.${keyId}\\.[A-Za-z0-9_-]+$`));
  const bytes = Buffer.from(sealed.split('.')[2] ?? '', 'base64url');
  const key = Buffer.from(hkdfSync('sha256', KEY, '', 'tessera webhook-secret', 32));
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
  decipher.setAAD(Buffer.from('["dev_1","wh_1","secret"]')).setAuthTag(bytes.subarray(-16));
  expect(decipher.update(bytes.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8')).toBe('whsec_secret');
});

test('the same text is never sealed the same way twice', () => {
  const sealed = Array.from({ length: 1000 }, () => seal(PLACE, 'the same'));
  expect(new Set(sealed).size).toBe(1000);
});

describe('a sealed text does not open', () => {
  test.each<[string, Partial<SealPlace>]>([
    ['of another developer', { developerId: 'dev_2' }],
    ['in another row', { row: 'wh_2' }],
    ['in another field', { field: 'previous_secret' }],
    ['for another purpose', { purpose: 'service-config' }],
    ['where the parts are split elsewhere', { developerId: 'dev_1w', row: 'h_1' }],
    ['where a part holds what separates the parts', { developerId: 'dev_1","wh_1', row: '' }],
  ])('%s', (_name, other) => {
    const sealed = seal(PLACE, 'text');
    expect(failureOf(() => vault.open({ ...PLACE, ...other }, sealed))).toBe('refused');
  });

  test('with any bit changed', () => {
    const sealed = seal(PLACE, 'text');
    const content = Buffer.from(sealed.split('.')[2] ?? '', 'base64url');
    for (let bit = 0; bit < content.length * 8; bit++) {
      const changed = Buffer.from(content);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const text = sealed.replace(/[^.]+$/, changed.toString('base64url'));
      expect(failureOf(() => vault.open(PLACE, text))).toBe('refused');
    }
  });

  test('with any character changed, or cut short anywhere', () => {
    const sealed = seal(PLACE, 'some text');
    const kinds = expect.stringMatching(/^(refused|malformed|other_key)$/);
    for (let at = 0; at < sealed.length; at++) {
      for (const character of ['A', 'b', '0', '.', '=', '\n', 'é']) {
        if (sealed[at] === character) continue;
        const text = sealed.slice(0, at) + character + sealed.slice(at + 1);
        expect(failureOf(() => vault.open(PLACE, text))).toEqual(kinds);
      }
      expect(failureOf(() => vault.open(PLACE, sealed.slice(0, at)))).toEqual(kinds);
    }
    expect(failureOf(() => vault.open(PLACE, `${sealed}\n`))).toBe('malformed');
    expect(failureOf(() => vault.open(PLACE, ''))).toBe('malformed');
  });

  test('under another key, and the error says which is missing', async () => {
    const sealed = seal(PLACE, 'top secret');
    const other = createVault(fixedKeys([masterKeyOf(randomBytes(32))]));
    expect(failureOf(() => other.open(PLACE, sealed))).toBe('other_key');
    const id = sealed.split('.')[1] ?? '';
    expect(() => other.open(PLACE, sealed)).toThrow(new RegExp(`Sealed under the ENCRYPTION_KEY ${id}`));
    const otherId = (await other.sealer(tx))(PLACE, '').split('.')[1] ?? '';
    expect(failureOf(() => other.open(PLACE, sealed.replace(id, otherId)))).toBe('refused');
  });
});

test('of two keys the first seals and both open', async () => {
  const [before, after] = [masterKeyOf(KEY), masterKeyOf(randomBytes(32))];
  const both = createVault(fixedKeys([after, before]));
  const old = seal(PLACE, 'text');
  const renewed = (await both.sealer(tx))(PLACE, 'text');
  expect([old, renewed].map((sealed) => both.open(PLACE, sealed))).toEqual(['text', 'text']);
  expect([old, renewed].map((sealed) => both.isPresent(sealed))).toEqual([false, true]);
  expect(failureOf(() => vault.open(PLACE, renewed))).toBe('other_key');
});

test('a master key of another size is refused', () => {
  expect(() => masterKeyOf(randomBytes(16))).toThrow('must be 32 bytes');
});

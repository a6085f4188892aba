import { expect, test } from 'vitest';
import { fingerprint, rememberingFingerprint, isWellFormedKey, mintKey, mintSecret, shownStart } from './api-key.ts';

test('a minted key is tsk_, 32 characters and a checksum of 6', () => {
  expect(mintKey()).toMatch(/^tsk_[0-9A-Za-z]{38}$/);
  expect(mintSecret()).toMatch(/^tss_[0-9A-Za-z]{40}$/);
});

test('a minted key is well-formed, and no key with one character changed is', () => {
  const key = mintKey();
  expect(isWellFormedKey(key)).toBe(true);
  for (let at = 4; at < key.length; at++) {
    const other = key[at] === 'x' ? 'y' : 'x';
    expect(isWellFormedKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(false);
  }
});

test.each(['', 'tsk_', 'tsk_short', ' '.repeat(42), 'tsk_' + 'ä'.repeat(38)])('%j is junk', (junk) => {
  expect(isWellFormedKey(junk)).toBe(false);
});

test('what is stored is SHA-256 and what is shown the first 12 characters', () => {
  // FIPS 180-2, appendix B.1
  expect(fingerprint('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(shownStart('tsk_0123456789')).toBe('tsk_01234567');
});

test('a remembered fingerprint is that of its value, whatever came in between', () => {
  const fingerprintOf = rememberingFingerprint(2);
  for (const value of ['a', 'b', 'a', 'c', 'd', 'a', 'x'.repeat(500)]) {
    expect(fingerprintOf(value)).toBe(fingerprint(value));
  }
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAddresses } from './mail-address.ts';

describe('addresses that are read', () => {
  test.each([
    ['a@b.example', [{ name: '', address: 'a@b.example' }]],
    [
      ' a@b.example , Ann <c@d.example>,',
      [
        { name: '', address: 'a@b.example' },
        { name: 'Ann', address: 'c@d.example' },
      ],
    ],
    ['"Doe, Ann" <ann@localhost>', [{ name: 'Doe, Ann', address: 'ann@localhost' }]],
    ['李雷 <li@例子.example>', [{ name: '李雷', address: 'li@例子.example' }]],
    ["o'brien+tag@x.example", [{ name: '', address: "o'brien+tag@x.example" }]],
    ['', []],
  ])('%s', (text, addresses) => {
    expect(parseAddresses(text)).toEqual(addresses);
  });
});

describe('what is no address', () => {
  test.each([
    ['nobody'],
    ['@b.example'],
    ['a@'],
    ['a@b@c.example'],
    ['a b@c.example'],
    ['a@b..example'],
    ['a@-b.example'],
    ['a@b.example\r\nBcc: victim@b.example'],
    ['Ann\nBcc: victim@b.example <a@b.example>'],
    ['Ann <a@b.example> <c@d.example>'],
    ['<a@b.example'],
    ['a@b.example>'],
    ['"Ann <a@b.example>'],
    ['group: a@b.example;'],
    ['a@[127.0.0.1]'],
    ['a@b.example\0'],
    [`${'a'.repeat(65)}@b.example`],
    [`a@${'b'.repeat(256)}`],
  ])('%j', (text) => {
    expect(() => parseAddresses(text)).toThrow(/mail address/);
  });
});

test('whatever is read holds no line break, comma or bracket that could begin something else', () => {
  const piece = fc.constantFrom('a@b.example', '<', '>', '"', ',', ' ', '\r\n', 'x', '@', ';', ':', '\\', '(', ')');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      let read: ReturnType<typeof parseAddresses> = [];
      try {
        read = parseAddresses(pieces.join(''));
      } catch {
        return;
      }
      for (const { name, address } of read) {
        expect(address).toMatch(/^[^\s<>",;:\\()@]+@[^\s<>",;:\\()@]+$/);
        expect(name).not.toMatch(/[\r\n<>"]/);
      }
    }),
  );
});

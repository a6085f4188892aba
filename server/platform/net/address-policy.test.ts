import { BlockList } from 'node:net';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../config/index.ts';
import { createAddressPolicy } from './address-policy.ts';
import { checkUrl } from './check-url.ts';
import { netSettings } from './net.settings.ts';
import { OutboundError } from './outbound-error.ts';

const strict = createAddressPolicy({ allowPrivate: false, allow: [] });

function isRefusal(check: () => unknown): boolean {
  try {
    check();
    return false;
  } catch (error) {
    if (error instanceof OutboundError && error.kind === 'refused') return true;
    throw error;
  }
}

function isRefused(host: string, policy = strict): boolean {
  return isRefusal(() => checkUrl(`http://${host}/`, policy));
}

/** Whether an address is refused that a name server gave. */
function isRefusedAnswer(address: string): boolean {
  return isRefusal(() => strict.demandAddress(address, 'a.example'));
}

/** IANA's special-purpose registries and RFCs 6890, 7535, 7450, 3068: written here once more, as the oracle. */
const SPECIAL_IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const;
const SPECIAL_IPV6 = [
  ['::', 3],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
  ['4000::', 2],
  ['5f00::', 16],
  ['8000::', 1],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const;

// Two lists: one list takes an IPv4 address for its mapped form, and that is special in itself.
const specialIpv4 = new BlockList();
const specialIpv6 = new BlockList();
for (const [network, bits] of SPECIAL_IPV4) specialIpv4.addSubnet(network, bits, 'ipv4');
for (const [network, bits] of SPECIAL_IPV6) specialIpv6.addSubnet(network, bits, 'ipv6');

function toIpv4(value: number): string {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
}

function fromIpv4(address: string): number {
  return address.split('.').reduce((value, part) => value * 256 + Number(part), 0);
}

/** Anywhere, and as often inside a special network or right beside its edges. */
const ipv4 = fc.oneof(
  fc.nat(0xffff_ffff),
  fc
    .tuple(fc.constantFrom(...SPECIAL_IPV4), fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(-1, 0, 1, 2))
    .map(([[network, bits], fraction, place]) => {
      const size = 2 ** (32 - bits);
      const first = fromIpv4(network);
      if (place === -1) return Math.max(0, first - 1);
      return Math.min(0xffff_ffff, place === 2 ? first + size : first + Math.floor(fraction * (size - 1)));
    }),
);

const octal = (value: number): string => `0${value.toString(8)}`;
const hex = (value: number): string => `0x${value.toString(16)}`;

/** The ways in which the URL standard lets an IPv4 address be written. */
const spelling = fc.constantFrom<(value: number) => string>(
  toIpv4,
  String,
  hex,
  octal,
  (value) => `${toIpv4(value)}.`,
  (value) => toIpv4(value).split('.').map(Number).map(hex).join('.'),
  (value) => toIpv4(value).split('.').map(Number).map(octal).join('.'),
  (value) => `${value >>> 24}.${value & 0xff_ffff}`,
  (value) => `${hex(value >>> 24)}.${octal((value >>> 16) & 255)}.${value & 0xffff}`,
  (value) => toIpv4(value).replaceAll('.', '%2E'),
  (value) => toIpv4(value).replaceAll('.', '。'),
  (value) => toIpv4(value).replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
);

const groups = (...values: number[]): string => values.map((value) => value.toString(16)).join(':');
const group = fc.nat(0xffff);
const ipv6 = fc
  .tuple(
    fc.oneof(group, fc.constantFrom(0, 0x64, 0x100, 0x2001, 0x2002, 0x2620, 0x3fff, 0x4000, 0x5f00, 0xfe80, 0xfec0)),
    fc.oneof(group, fc.constantFrom(0, 1, 2, 3, 0x10, 0x1ff, 0x200, 0xdb8, 0x4f, 0xff9b)),
    fc.oneof(group, fc.constantFrom(0, 1, 0x8000)),
    ...[3, 4, 5, 6, 7].map(() => fc.oneof(group, fc.constant(0))),
  )
  .map((values) => groups(...values));

describe('a literal address', () => {
  it('is refused in every spelling when it is special, and only then', () => {
    fc.assert(
      fc.property(ipv4, spelling, (value, spell) => {
        expect(isRefused(spell(value))).toBe(specialIpv4.check(toIpv4(value), 'ipv4'));
      }),
      { numRuns: 3000 },
    );
  });

  it('of IPv6 is refused unless it is plain global unicast', () => {
    const change = fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => text.toUpperCase(),
      (text) => text.replace(/(^|:)0(:0)+(:|$)/, '::'),
      (text) => text.replaceAll(/[^:]+/g, (part) => part.padStart(4, '0')),
    );
    fc.assert(
      fc.property(ipv6, change, (address, spell) => {
        expect(isRefused(`[${spell(address)}]`)).toBe(specialIpv6.check(address, 'ipv6'));
      }),
      { numRuns: 3000 },
    );
  });

  it('that carries an IPv4 address inside an IPv6 one is refused, whatever the IPv4 one is', () => {
    const carriers = fc.constantFrom<(high: number, low: number) => string>(
      (high, low) => `::ffff:${groups(high, low)}`,
      (high, low) => `::${groups(high, low)}`,
      (high, low) => `::ffff:0:${groups(high, low)}`,
      (high, low) => `64:ff9b::${groups(high, low)}`,
      (high, low) => `64:ff9b:1::${groups(high, low)}`,
      (high, low) => `2002:${groups(high, low)}::1`,
      (high, low) => `2001::${groups(high ^ 0xffff, low ^ 0xffff)}`,
      (high, low) => `::ffff:${toIpv4(high * 0x1_0000 + low)}`,
      (high, low) => `64:ff9b::${toIpv4(high * 0x1_0000 + low)}`,
      (high, low) => `::${toIpv4(high * 0x1_0000 + low)}`,
    );
    fc.assert(
      fc.property(ipv4, carriers, (value, carry) => {
        expect(isRefused(`[${carry(value >>> 16, value & 0xffff)}]`)).toBe(true);
      }),
    );
  });

  it('is judged the same when a name resolves to it', () => {
    fc.assert(
      fc.property(ipv4, (value) => {
        expect(isRefusedAnswer(toIpv4(value))).toBe(specialIpv4.check(toIpv4(value), 'ipv4'));
      }),
    );
    for (const odd of ['', 'a.example', '300.1.1.1', 'fe80::1%eth0', '::1%lo']) {
      expect(isRefusedAnswer(odd)).toBe(true);
    }
  });
});

describe('a host name', () => {
  it.each([
    ['localhost'],
    ['LOCALHOST.'],
    ['localhost..'],
    ['a.b.localhost'],
    ['loc%61lhost'],
    ['localhost.localdomain'],
    ['ip6-loopback'],
    ['metadata.google.internal.'],
    ['instance-data'],
  ])('%s is refused without being looked up', (host) => {
    expect(isRefused(host)).toBe(true);
  });

  it.each([['example.com'], ['notlocalhost'], ['localhost.example.com'], ['10.0.0.1.example'], ['metadata.example']])(
    '%s is not',
    (host) => {
      expect(isRefused(host)).toBe(false);
    },
  );

  it.each([['a'.repeat(255)], [`a${'.'.repeat(100_000)}b`], ['localhost.'.repeat(10_000)], ['a.'.repeat(100_000)]])(
    'that is too long to exist is refused, quickly and in few words',
    (host) => {
      const startedAt = performance.now();
      expect(() => checkUrl(`http://${host}/`, strict)).toThrow('too long');
      expect(performance.now() - startedAt).toBeLessThan(200);
    },
  );

  it.each([
    ['ftp://example.com/'],
    ['file:///etc/passwd'],
    ['javascript:alert(1)'],
    ['http://user@example.com/'],
    ['http://:secret@example.com/'],
    ['http://./'],
    ['http://'],
    ['//example.com'],
    ['example.com'],
    [''],
  ])('in the address %s is refused for what else it says', (url) => {
    const open = createAddressPolicy({ allowPrivate: true, allow: [] });
    expect(() => checkUrl(url, open)).toThrow(OutboundError);
  });
});

describe('the allow list', () => {
  it.each([
    ['10.1.0.0/16', '10.1.255.1', '10.2.0.1'],
    ['10.1.2.3', '10.1.2.3', '10.1.2.4'],
    ['fd00:1::/32', '[fd00:1:ffff::1]', '[fd00:2::1]'],
    ['::1', '[::1]', '127.0.0.1'],
    ['[fd00::7]', '[fd00::7]', '[fd00::8]'],
    ['localhost', 'LocalHost.', 'a.localhost'],
    ['Metadata.Google.Internal.', 'metadata.google.internal', 'metadata.goog'],
    ['0.0.0.0/0', '127.0.0.1', '[::ffff:127.0.0.1]'],
  ])('with %s opens %s and not %s', (entry, opened, closed) => {
    const policy = createAddressPolicy({ allowPrivate: false, allow: [entry] });
    expect([isRefused(opened, policy), isRefused(closed, policy)]).toEqual([false, true]);
  });

  it('opens whatever a listed name resolves to, and nothing for another name', () => {
    const policy = createAddressPolicy({ allowPrivate: false, allow: ['Intranet.Example.'] });
    expect(() => policy.demandAddress('10.0.0.1', 'intranet.example')).not.toThrow();
    expect(() => policy.demandAddress('10.0.0.1', 'a.intranet.example')).toThrow(OutboundError);
  });

  it('is what the error of a refused address names, and no more than the host', () => {
    expect(() => strict.demandAddress('10.9.8.7', 'intranet.example')).toThrow(
      'intranet.example is, or leads to, a private, local or otherwise special address, which this server does not call. OUTBOUND_ALLOW=intranet.example in its settings opens it.',
    );
  });

  it.each([
    ['10/8'],
    ['10.0.0.0/33'],
    ['http://a.example'],
    ['a.example:80'],
    ['a.example/x'],
    ['*.a.example'],
    ['a b'],
  ])('refuses to start with %s', (entry) => {
    const mistakes: string[] = [];
    readSettings(netSettings, { OUTBOUND_ALLOW: `ok.example, ${entry}` }, mistakes);
    expect(mistakes).toEqual([
      `OUTBOUND_ALLOW must list host names, addresses and CIDRs (no scheme, port, path or wildcard), but has "${entry}"`,
    ]);
  });

  it('is empty by default, and private addresses are left to the host', () => {
    expect(readSettings(netSettings, {}, [])).toEqual({ OUTBOUND_PRIVATE: 'auto', OUTBOUND_ALLOW: [] });
    expect(readSettings(netSettings, { OUTBOUND_ALLOW: 'a.example, 10.0.0.0/8' }, []).OUTBOUND_ALLOW).toEqual([
      'a.example',
      '10.0.0.0/8',
    ]);
  });
});

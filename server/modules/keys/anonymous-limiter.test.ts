import { expect, test } from 'vitest';
import { addressGroup } from './address-group.ts';
import { AnonymousLimiter } from './anonymous-limiter.ts';
import { movableClock } from './movable-clock.ts';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff::', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['', 'unreadable'],
  ['x'.repeat(10_000), 'unreadable'],
])('%s counts as %s', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});

test('changing the last 64 bits of an address gives no new allowance', () => {
  const limiter = new AnonymousLimiter(movableClock(0), 3);
  const allowed = Array.from({ length: 5 }, (_, i) => limiter.spend(`2001:db8::${i}`, 1).isAllowed);
  expect(allowed).toEqual([true, true, true, false, false]);
  expect(limiter.spend('2001:db8:0:1::1', 1).isAllowed).toBe(true);
});

test('looking costs nothing and remembers nobody', () => {
  const limiter = new AnonymousLimiter(movableClock(0), 3);
  for (let i = 0; i < 10; i++) expect(limiter.spend('192.0.2.1', 0).remaining).toBe(3);
  expect(limiter.size).toBe(0);
});

test('a flood of addresses is forgotten down to a bound, but not who is refused again and again', () => {
  const clock = movableClock(0);
  const limiter = new AnonymousLimiter(clock, 1);
  limiter.spend('192.0.2.1', 1);
  for (let i = 0; i < 30_000; i++) {
    limiter.spend(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, 1);
    if (i % 1000 === 0) limiter.spend('192.0.2.1', 1);
  }
  expect(limiter.spend('192.0.2.1', 1).isAllowed).toBe(false);
  expect(limiter.size).toBe(10_000);
  clock.advance(60_000);
  for (let i = 0; i < 10_000; i++) limiter.spend('192.0.2.2', 1);
  expect(limiter.size).toBe(1);
});

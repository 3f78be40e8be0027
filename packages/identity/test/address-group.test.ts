import { expect, test } from 'vitest';
import { addressGroup } from '../src/index.ts';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:5000', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['[::ffff:192.0.2.1]:5000', '192.0.2.1'],
  ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
  ['[2001:0DB8:0000:0001:ffff::2]:5000', '2001:db8:0:1::/64'],
  ['[2001:db8:0:2::1]:5000', '2001:db8:0:2::/64'],
  ['[::1]:5000', '0:0:0:0::/64'],
  ['[fe80::1%eth0]:5000', 'fe80:0:0:0::/64'],
  ['unknown', 'unknown'],
  ['unknown:0', 'unknown'],
  ['', ''],
])('guesses from "%s" are counted for "%s"', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});

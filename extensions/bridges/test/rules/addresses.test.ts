import { describe, expect, test } from 'vitest';
import { AddressGuard, isRange } from '../../src/rules/targets/addresses.ts';

const guard = new AddressGuard([]);

describe('internal addresses', () => {
  test.each([
    ...['127.0.0.1', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254'],
    ...['100.64.0.1', '0.0.0.0', '224.0.0.1', '255.255.255.255'],
    ...['::1', '::', 'fe80::1', 'fe80::1%lo', 'fc00::1', 'fd00:ec2::254', 'ff02::1'],
    ...[
      '::ffff:127.0.0.1',
      '::ffff:10.0.0.1',
      '::ffff:a9fe:a9fe',
      '::127.0.0.1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
    ],
  ])('%s is refused', (address) => {
    expect(guard.allows(address)).toBe(false);
  });

  test.each(['1.1.1.1', '172.32.0.1', '192.169.0.1', '2606:4700::1111', '::ffff:1.1.1.1'])(
    'do not include %s',
    (address) => {
      expect(guard.allows(address)).toBe(true);
    },
  );

  test('can be reached if they are allowed, and their neighbours cannot', () => {
    const allowing = new AddressGuard(['10.1.0.0/16', '::1']);
    expect(['10.1.2.3', '10.2.0.1', '::1', 'fc00::1'].map((each) => allowing.allows(each))).toEqual([
      ...[true, false, true, false],
    ]);
  });

  test.each([
    ['10.0.0.0/8', true],
    ['::1', true],
    ['10.0.0.0/33', false],
    ['10.0.0.0/8/8', false],
    ['localhost', false],
    ['', false],
  ])('%s as a range: %s', (text, expected) => {
    expect(isRange(text)).toBe(expected);
  });
});

import { expect, test } from 'vitest';
import {
  type Beginning,
  beginningOf,
  isBeginningValid,
  otherProperties,
  withBeginning,
} from '../../src/features/subscriptions/beginning.ts';

const BEGINNINGS: readonly Beginning[] = [
  { kind: 'none', value: '' },
  { kind: 'now', value: '' },
  { kind: 'count', value: '50' },
  { kind: 'span', value: '10m' },
  { kind: 'earliest', value: '' },
  { kind: 'time', value: '2026-11-25T10:00:00Z' },
  { kind: 'time', value: '1795600000000' },
  { kind: 'position', value: 'abc-12' },
  { kind: 'position', value: 'abc-12-3 chat/a\ndef-7 chat/b c' },
];

test.each(BEGINNINGS)(
  'a beginning is the same in user properties and out of them: $kind $value',
  (beginning) => {
    const pairs = withBeginning([['team', 'a']], beginning);
    expect(beginningOf(pairs)).toEqual(beginning);
    expect(otherProperties(pairs)).toEqual([['team', 'a']]);
    expect(isBeginningValid(beginning)).toBe(true);
  },
);

test('another beginning takes the place of the one before', () => {
  const before = withBeginning([], { kind: 'position', value: 'abc-12 a\nabc-3 b' });
  expect(withBeginning(before, { kind: 'span', value: ' 5m ' })).toEqual([['rewind', '5m']]);
});

test.each([
  ['count', 'ten'],
  ['span', '10'],
  ['span', '10w'],
  ['time', 'yesterday'],
  ['position', '12'],
  ['position', ''],
] as const)('the dialog takes no %s of %j', (kind, value) => {
  expect(isBeginningValid({ kind, value })).toBe(false);
});

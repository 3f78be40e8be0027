import { CLIENT_ID_PATTERN_LENGTH_MAX, CLIENT_ID_PATTERNS_MAX } from '@apus/broker';
import { expect, test } from 'vitest';
import { readClientIds } from '../src/index.ts';

const LONGEST = 'a'.repeat(CLIENT_ID_PATTERN_LENGTH_MAX);
const MOST = Array.from({ length: CLIENT_ID_PATTERNS_MAX }, (_, index) => `a${index}`);

test.each([[['%u']], [['sensor-+', 'a/b']], [[LONGEST]], [MOST]])(
  'patterns of client identifiers are accepted: %j',
  (patterns) => {
    expect(readClientIds(patterns, 'clientIds')).toEqual(patterns);
  },
);

test.each([
  ['a', /^clientIds has to be a list of 1 to 16 patterns/],
  [null, /^clientIds has to be a list/],
  [[], /^clientIds has to be a list of 1 to 16/],
  [[...MOST, 'a'], /^clientIds has to be a list of 1 to 16/],
  [['a', 1], /^clientIds\[1\] has to be a string of 1 to 256 characters/],
  [[''], /^clientIds\[0\] has to be/],
  [[`${LONGEST}a`], /^clientIds\[0\] has to be/],
  [['%c-+'], /^clientIds\[0\] has to be/],
])('others are refused with a sentence: %j', (patterns, sentence) => {
  expect(readClientIds(patterns, 'clientIds')).toMatch(sentence);
});

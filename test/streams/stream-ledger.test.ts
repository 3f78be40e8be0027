import { describe, expect, test } from 'vitest';
import { type Noticed, StreamLedger } from '../support/stream-ledger.ts';

function violations(acknowledged: readonly string[], noticed: readonly (string | 'gap')[]): string[] {
  const ledger = new StreamLedger();
  ledger.acknowledged.push(...acknowledged);
  return ledger.violations(noticed.map(read));
}

/** `e-3` is message 3 of epoch e. */
function read(text: string): Noticed {
  return text === 'gap' ? text : { topic: 't', payload: text, position: text };
}

describe('the ledger of streams', () => {
  const ALL = ['e-1', 'e-2', 'e-3', 'e-4'];

  test('accepts every message in order', () => {
    expect(violations(ALL, ALL)).toEqual([]);
  });

  test.each([
    [
      'a hole',
      ['e-1', 'e-2', 'e-4'],
      ['t: e-4 came instead of number 3', 'e-3 was acknowledged and has not come'],
    ],
    ['an end that is missing', ['e-1', 'e-2', 'e-3'], ['e-4 was acknowledged and has not come']],
    [
      'a beginning that is missing',
      ['e-2', 'e-3', 'e-4'],
      expect.arrayContaining(['t: e-2 came instead of number 1']),
    ],
    ['disorder', ['e-1', 'e-3', 'e-2', 'e-4'], expect.arrayContaining(['t: e-3 came instead of number 2'])],
    ['a repetition', ['e-1', 'e-2', 'e-2', 'e-3', 'e-4'], expect.arrayContaining(['e-2 came twice'])],
    ['an epoch that changes without a word', [...ALL, 'f-5'], ['t: f-5 came instead of number 5']],
  ])('finds %s', (_, noticed, expected) => {
    expect(violations(ALL, noticed)).toEqual(expected);
  });

  test('allows one jump after each reported gap', () => {
    expect(violations(ALL, ['e-1', 'gap', 'e-4'])).toEqual([]);
    expect(violations(ALL, ['e-1', 'gap', 'f-9', 'f-10'])).toEqual([]);
    expect(violations(ALL, ['e-1', 'gap', 'e-3', 'e-5'])).toEqual(['t: e-5 came instead of number 4']);
    expect(violations(ALL, ['e-1', 'e-4', 'gap'])).toEqual(['t: e-4 came instead of number 2']);
  });
});

import { describe, expect, test } from 'vitest';
import { readToken } from '../src/token.ts';
import { tokenOf } from './support/tokens.ts';

const NOW = 1_700_000_000;
const NOW_MS = NOW * 1_000;

/** How long a token with these claims lasts, in seconds. */
function secondsLeft(claims: Readonly<Record<string, unknown>>): number | undefined {
  const token = readToken(tokenOf(claims), NOW_MS);
  return token && (token.endsAtMs - NOW_MS) / 1_000;
}

describe('the end of a token', () => {
  test('is its claim, by the clock of this machine', () => {
    expect(secondsLeft({ exp: NOW + 60 })).toBe(60);
    expect(secondsLeft({ exp: NOW + 60, iat: NOW - 3_540 })).toBe(60);
    expect(readToken(tokenOf({ exp: NOW + 60 }), NOW_MS)?.exp).toBe(NOW + 60);
  });

  test('is its lifetime from now on a machine whose clock is behind', () => {
    expect(secondsLeft({ exp: NOW + 7_200, iat: NOW + 3_600 })).toBe(3_600);
  });

  test('is its lifetime from now on a machine whose clock is ahead', () => {
    expect(secondsLeft({ exp: NOW - 10, iat: NOW - 3_610 })).toBe(3_600);
  });

  test('is unknown if the token seems to have expired and does not say when it was issued', () => {
    expect(secondsLeft({ exp: NOW - 10 })).toBeUndefined();
  });

  test('is read from claims in any language', () => {
    expect(secondsLeft({ exp: NOW + 60, name: 'Zoë ¿?><ÿ' })).toBe(60);
  });

  test.each([
    ['an API key', 'k-0123456789'],
    ['nothing', ''],
    ['a token that is not base64', 'a.*.c'],
    ['a token that is not JSON', `a.${Buffer.from('exp').toString('base64url')}.c`],
    ['a token whose end is no number', tokenOf({ exp: 'soon' })],
    ['a token that never ends', tokenOf({ sub: 'ada' })],
    ['a token that fits into no URL', tokenOf({ exp: NOW + 60, filler: 'x'.repeat(20_000) })],
  ])('is not known of %s', (_, text) => {
    expect(readToken(text, NOW_MS)).toBeUndefined();
  });
});

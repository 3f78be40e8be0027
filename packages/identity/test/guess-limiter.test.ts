import { describe, expect, test } from 'vitest';
import { GuessLimiter } from '../src/index.ts';

const HERE = '192.0.2.1:5000';
const HOUR_MS = 3_600_000;

/** A limiter, and a clock that the test moves. */
class Stage {
  nowMs = Date.parse('2026-01-01T00:00:00Z');
  steppedMs = 0;
  readonly limiter = new GuessLimiter({ now: () => this.nowMs + this.steppedMs, steady: () => this.nowMs });

  /** Guesses as often as it may for some time, and counts the guesses. */
  guessesIn(durationMs: number, name: string | undefined, address: string): number {
    const endMs = this.nowMs + durationMs;
    let guesses = 0;
    while (this.nowMs < endMs) {
      const waitMs = this.limiter.waitMs(name, address);
      if (waitMs > 0) this.nowMs += waitMs;
      else {
        this.limiter.wrong(name, address);
        guesses++;
      }
    }
    return guesses;
  }

  wrong(times: number, name: string | undefined, address: string): void {
    for (let time = 0; time < times; time++) this.limiter.wrong(name, address);
  }

  /** Guesses from many addresses, as often as it may at once. */
  guessesOfMany(addresses: number, name: string): number {
    let guesses = 0;
    for (let index = 0; index < addresses; index++) {
      const address = `198.51.${index >> 8}.${index & 255}:1`;
      while (this.limiter.waitMs(name, address) === 0) {
        this.limiter.wrong(name, address);
        guesses++;
      }
    }
    return guesses;
  }
}

describe('one address that guesses one name', () => {
  test('has five tries, and waits twice as long after each further one, at most five minutes [SEC-GUESS-1]', () => {
    const stage = new Stage();
    const waits: number[] = [];
    for (let guess = 0; guess < 40; guess++) {
      stage.nowMs += stage.limiter.waitMs('ada', HERE);
      stage.limiter.wrong('ada', HERE);
      waits.push(stage.limiter.waitMs('ada', HERE) / 1000);
    }
    expect(waits.slice(0, 13)).toEqual([0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256]);
    expect(waits.at(-1)).toBe(300);
  });

  test('has fewer than 320 tries in a day', () => {
    expect(new Stage().guessesIn(24 * HOUR_MS, 'ada', HERE)).toBeLessThan(320);
  });

  test('is told with 0x9F when to come again', () => {
    const stage = new Stage();
    stage.wrong(6, 'ada', HERE);
    expect(stage.limiter.refusal('ada', HERE)).toEqual({
      refused: 0x9f,
      reason: 'Too many wrong passwords came from this address; the next is looked at in 2 s',
    });
  });

  test.each([-HOUR_MS, HOUR_MS])('waits as long where the wall clock steps by %i ms [SEC-GUESS-1]', (ms) => {
    const stage = new Stage();
    stage.wrong(6, 'ada', HERE);
    const waitMs = stage.limiter.waitMs('ada', HERE);
    stage.steppedMs = ms;
    expect(stage.limiter.waitMs('ada', HERE)).toBe(waitMs);
  });

  test('does not delay another address for that name [SEC-GUESS-2]', () => {
    const stage = new Stage();
    stage.guessesIn(24 * HOUR_MS, 'ada', HERE);
    expect(stage.limiter.refusal('ada', '192.0.2.2:5000')).toBeUndefined();
  });

  test('does not delay another name at its own address', () => {
    const stage = new Stage();
    stage.wrong(10, 'ada', HERE);
    expect(stage.limiter.refusal('bob', HERE)).toBeUndefined();
  });

  test('gains nothing by another port, nor by another address of its IPv6 network', () => {
    const stage = new Stage();
    stage.wrong(6, 'ada', HERE);
    stage.wrong(6, 'ada', '[2001:db8::1]:5000');
    expect(stage.limiter.refusal('ada', '192.0.2.1:5001')).toBeDefined();
    expect(stage.limiter.refusal('ada', '[2001:db8::2]:5000')).toBeDefined();
    expect(stage.limiter.refusal('ada', '[2001:db8:0:1::1]:5000')).toBeUndefined();
  });

  test('is forgiven after a right password', () => {
    const stage = new Stage();
    stage.wrong(4, 'ada', HERE);
    stage.limiter.right('ada', HERE);
    stage.wrong(4, 'ada', HERE);
    expect(stage.limiter.refusal('ada', HERE)).toBeUndefined();
  });
});

describe('one address that guesses many names', () => {
  /** Wrong passwords for thirty names, and one more. */
  const spray = (stage: Stage): void => {
    for (let index = 0; index <= 30; index++) stage.limiter.wrong(`user ${index}`, HERE);
  };

  test('has one try at each instead of five, after the first thirty [SEC-GUESS-3]', () => {
    const stage = new Stage();
    spray(stage);
    stage.wrong(1, 'ada', HERE);
    expect(stage.limiter.waitMs('ada', HERE)).toBe(30_000);
    expect(stage.guessesIn(24 * HOUR_MS, 'ada', HERE)).toBeLessThan(320);
  });

  test('does not delay a user with the right password for another name, even there [SEC-GUESS-2]', () => {
    const stage = new Stage();
    spray(stage);
    expect(stage.limiter.refusal('ada', HERE)).toBeUndefined();
  });

  test('still allows five tries for a name that has logged in from there', () => {
    const stage = new Stage();
    stage.limiter.right('ada', HERE);
    spray(stage);
    stage.wrong(4, 'ada', HERE);
    expect(stage.limiter.refusal('ada', HERE)).toBeUndefined();
  });

  test('keeps its count when the attacker logs in with a password of their own', () => {
    const stage = new Stage();
    for (let index = 0; index <= 30; index++) {
      stage.limiter.wrong(`user ${index}`, HERE);
      stage.limiter.right('eve', HERE);
    }
    stage.wrong(1, 'ada', HERE);
    expect(stage.limiter.refusal('ada', HERE)).toBeDefined();
  });

  test('has thirty tries of secrets without a name', () => {
    const stage = new Stage();
    stage.wrong(29, undefined, HERE);
    expect(stage.limiter.refusal(undefined, HERE)).toBeUndefined();
    stage.wrong(1, undefined, HERE);
    expect(stage.limiter.refusal(undefined, HERE)).toBeDefined();
    expect(stage.limiter.refusal(undefined, '192.0.2.2:1')).toBeUndefined();
  });
});

describe('many addresses that guess one name', () => {
  test('have one try each instead of five [SEC-GUESS-3]', () => {
    expect(new Stage().guessesOfMany(500, 'ada')).toBeLessThan(560);
  });

  test('do not keep out an address that is new to the name', () => {
    const stage = new Stage();
    stage.guessesOfMany(500, 'ada');
    expect(stage.limiter.refusal('ada', HERE)).toBeUndefined();
  });

  test('still allow five tries from an address from which the name has logged in', () => {
    const stage = new Stage();
    stage.limiter.right('ada', HERE);
    stage.guessesOfMany(500, 'ada');
    stage.wrong(4, 'ada', HERE);
    expect(stage.limiter.refusal('ada', HERE)).toBeUndefined();
    stage.wrong(1, 'ada', HERE);
    expect(stage.limiter.waitMs('ada', HERE)).toBe(1_000);
  });

  test('stop reducing the five tries of a name an hour after the last guess', () => {
    const stage = new Stage();
    stage.guessesOfMany(500, 'ada');
    stage.nowMs += HOUR_MS;
    stage.wrong(4, 'ada', HERE);
    expect(stage.limiter.refusal('ada', HERE)).toBeUndefined();
  });

  test('cannot replace the addresses of a name by logging in under their own names', () => {
    const stage = new Stage();
    stage.limiter.right('ada', HERE);
    for (let index = 0; index < 20_000; index++) stage.limiter.right('eve', `198.51.100.${index}`);
    stage.wrong(40, 'bob', HERE);
    stage.wrong(4, 'ada', HERE);
    expect(stage.limiter.refusal('ada', HERE)).toBeUndefined();
  });
});

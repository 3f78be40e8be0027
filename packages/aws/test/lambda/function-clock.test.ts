import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { functionClock } from '../../src/lambda/function-clock.ts';

const HOUR_MS = 3_600_000;

describe('the steady clock of a function', () => {
  let wallMs = Date.UTC(2026, 0, 1);
  let awakeMs = 0;

  beforeEach(() => {
    vi.spyOn(Date, 'now').mockImplementation(() => wallMs);
    vi.spyOn(performance, 'now').mockImplementation(() => awakeMs);
  });
  afterEach(() => vi.restoreAllMocks());

  /** What the clock says has passed. */
  function passed() {
    const { steady = () => Number.NaN } = functionClock();
    const startedAtMs = steady();
    return () => steady() - startedAtMs;
  }

  function pass(ms: number): void {
    wallMs += ms;
    awakeMs += ms;
  }

  it('goes on with the time', () => {
    const elapsed = passed();
    for (let second = 1; second <= 100; second += 1) {
      pass(1_000);
      // The clocks are never quite as fast.
      wallMs += second % 2;
      expect(Math.abs(elapsed() - second * 1_000)).toBeLessThanOrEqual(50);
    }
  });

  it('counts the time for which Lambda has frozen the environment', () => {
    const elapsed = passed();
    for (let freeze = 1; freeze <= 3; freeze += 1) {
      wallMs += HOUR_MS;
      expect(elapsed()).toBe(freeze * HOUR_MS);
    }
    // Where performance.now has not stood still.
    pass(HOUR_MS);
    expect(elapsed()).toBe(4 * HOUR_MS);
  });

  it.each([2_000, HOUR_MS])('neither goes back nor stops where the wall clock goes back by %i ms', (ms) => {
    const elapsed = passed();
    pass(5_000);
    wallMs -= ms;
    expect(elapsed()).toBe(5_000);
    pass(1_000);
    expect(elapsed()).toBe(6_000);
    wallMs += HOUR_MS;
    expect(elapsed()).toBe(HOUR_MS + 6_000);
  });
});

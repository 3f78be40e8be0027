import { afterEach, beforeEach, expect, it } from 'vitest';
import { VirtualClock } from './virtual-clock.ts';

const START_MS = Date.UTC(2026, 0, 1);

let clock: VirtualClock;
let called: string[];
const calls = (name: string) => () => called.push(`${name} at ${Date.now() - START_MS}`);

beforeEach(() => {
  clock = new VirtualClock(START_MS);
  called = [];
});
afterEach(() => clock.restore());

it('calls the timers of the next moment in the order in which they were set, immediates first', () => {
  setTimeout(calls('late'), 20);
  setTimeout(calls('one'), 10);
  setTimeout(calls('other'), 10.9);
  setTimeout(calls('at once'));
  setImmediate(calls('immediate'));
  clock.next();
  expect(called).toEqual(['immediate at 0', 'at once at 0']);
  clock.next();
  expect(called.slice(2)).toEqual(['one at 10', 'other at 10']);
  expect([performance.now(), new Date().toISOString()]).toEqual([10, '2026-01-01T00:00:00.010Z']);
});

it('gives arguments, and takes a delay that is too long for 1 ms', () => {
  setTimeout((...given: string[]) => called.push(...given), 2 ** 31, 'a', 'b');
  clock.next();
  expect([...called, clock.nowMs - START_MS]).toEqual(['a', 'b', 1]);
});

it('advances time if one timer sets another one with no delay', () => {
  setTimeout(() => {
    setTimeout(calls('timer'), 0);
    setImmediate(calls('immediate'));
  }, 5);
  clock.next();
  clock.next();
  expect(called).toEqual(['immediate at 6', 'timer at 6']);
});

it('calls an interval again and again until it is cleared, and a cleared timer not at all', () => {
  const interval = setInterval(calls('interval'), 3);
  clearTimeout(setTimeout(calls('cleared'), 4));
  for (let times = 0; times < 2; times += 1) clock.next();
  clearInterval(interval);
  setTimeout(calls('end'), 100);
  clock.next();
  expect(called).toEqual(['interval at 3', 'interval at 6', 'end at 106']);
});

it('calls a refreshed timer once, after its whole delay', () => {
  const timer = setTimeout(calls('refreshed'), 10);
  setTimeout(() => timer.refresh(), 5);
  setTimeout(calls('end'), 30);
  for (let times = 0; times < 3; times += 1) clock.next();
  expect(called).toEqual(['refreshed at 15', 'end at 30']);
});

it('calls the other timers of a moment if one of them throws', () => {
  setTimeout(() => {
    throw new Error('a timer fails');
  }, 1);
  setTimeout(calls('next'), 1);
  expect(() => clock.next()).toThrow('a timer fails');
  clock.next();
  expect(called).toEqual(['next at 1']);
});

it('restores the time of the machine', () => {
  clock.restore();
  expect(Math.abs(Date.now() - START_MS)).toBeGreaterThan(1_000);
  expect(clearTimeout(setTimeout(() => {}, 1))).toBeUndefined();
});

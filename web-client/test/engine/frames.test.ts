import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FrameListeners } from '../../src/engine/log/frames.ts';

const FRAME_MS = 16;

let drawn: number[];
let listeners: FrameListeners;

/** A message in each millisecond. */
function streamFor(ms: number): void {
  for (let passed = 0; passed < ms; passed += 1) {
    listeners.changed();
    vi.advanceTimersByTime(1);
  }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance', 'requestAnimationFrame'] });
  vi.stubGlobal('document', { hidden: false });
  drawn = [];
  listeners = new FrameListeners();
  listeners.add(() => drawn.push(performance.now()));
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('a single message is drawn with the next frame', () => {
  vi.advanceTimersByTime(1_000);
  const cameAtMs = performance.now();
  listeners.changed();
  vi.advanceTimersByTime(FRAME_MS);
  expect(drawn).toHaveLength(1);
  expect(drawn[0]).toBeLessThanOrEqual(cameAtMs + FRAME_MS);
});

test('a stream is drawn at most twenty times a second, and its end is', () => {
  streamFor(1_000);
  expect(drawn.length).toBeGreaterThan(13);
  expect(drawn.length).toBeLessThanOrEqual(20);
  const atTheEnd = drawn.length;
  vi.advanceTimersByTime(100);
  expect(drawn).toHaveLength(atTheEnd + 1);
});

test.each([
  ['a part of the time', 20, 100],
  ['four times a second at least', 200, 250],
])('on a slow machine a stream is drawn for %s', (_name, tookMs, intervalMs) => {
  // Each frame takes so long.
  const atMs = performance.now.bind(performance);
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => atMs() + drawn.length * tookMs);
  streamFor(2_000);
  const between = drawn.slice(1).map((drawnAtMs, index) => drawnAtMs - (drawn[index] ?? 0));
  spy.mockRestore();
  expect(Math.min(...between)).toBeGreaterThanOrEqual(intervalMs);
  expect(Math.max(...between)).toBeLessThanOrEqual(intervalMs + 2 * FRAME_MS);
});

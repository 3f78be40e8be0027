import { expect, test } from 'vitest';
import { Rate } from '../../src/engine/host/rate.ts';

test('a steady stream has its rate', () => {
  const rate = new Rate();
  let last = 0;
  for (let atMs = 0; atMs <= 10_000; atMs += 500) last = rate.sample(atMs / 10, atMs);
  expect(last).toBe(100);
});

test('it falls to zero within two seconds when nothing comes', () => {
  const rate = new Rate();
  rate.sample(0, 0);
  rate.sample(1_000, 500);
  for (let atMs = 1_000; atMs <= 2_500; atMs += 500) rate.sample(1_000, atMs);
  expect(rate.sample(1_000, 3_000)).toBe(0);
});

test('asking often changes nothing, and one message at once is no burst', () => {
  const rate = new Rate();
  rate.sample(0, 0);
  expect(rate.sample(1, 1)).toBe(2);
  for (let atMs = 2; atMs < 2_000; atMs += 1) rate.sample(1, atMs);
  expect(rate.sample(1, 2_000)).toBe(0.5);
});

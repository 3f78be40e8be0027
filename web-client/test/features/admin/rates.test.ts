import { expect, test } from 'vitest';
import { rateOf, timeSpan, withPoint } from '../../../src/features/admin/rates.ts';

const at = (atMs: number, sent: number) => ({ atMs, metrics: { 'messages.sent': sent } });

test('a rate is the growth of a counter in a second', () => {
  expect(rateOf(at(1_000, 10), at(3_000, 30), 'messages.sent')).toBe(10);
  expect(rateOf(at(1_000, 10), at(1_500, 10), 'messages.sent')).toBe(0);
});

test('there is none at the first look, and none where the broker has begun anew', () => {
  expect(rateOf(undefined, at(1_000, 10), 'messages.sent')).toBeUndefined();
  expect(rateOf(at(1_000, 10), at(3_000, 2), 'messages.sent')).toBeUndefined();
  expect(rateOf(at(1_000, 10), at(1_000, 12), 'messages.sent')).toBeUndefined();
  // Two looks right after one another would say that nothing comes.
  expect(rateOf(at(1_000, 10), at(1_100, 10), 'messages.sent')).toBeUndefined();
});

test('the graph gets a point from two looks, and none where the broker has begun anew', () => {
  const first = { atMs: 1_000, metrics: { 'messages.received': 10, 'messages.sent': 10 } };
  const second = {
    atMs: 3_000,
    metrics: { 'messages.received': 30, 'messages.sent': 14, 'delivery.dropped': 4 },
  };
  expect(withPoint([], undefined, first, 0)).toEqual([]);
  expect(withPoint([], first, second, 99)).toEqual([{ atMs: 99, received: 10, sent: 2, dropped: 2 }]);
  expect(withPoint([], second, first, 99)).toEqual([]);
});

test('the graph shows a minute at least, so that its first point has no day beside it', () => {
  expect(timeSpan([])).toEqual([null, null]);
  expect(timeSpan([1_000])).toEqual([940, 1_000]);
  expect(timeSpan([900, 1_000])).toEqual([900, 1_000]);
});

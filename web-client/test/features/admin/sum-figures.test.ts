import { expect, test } from 'vitest';
import { rateOf } from '../../../src/features/admin/rates.ts';
import { sumOfFigures } from '../../../src/features/admin/sum-figures.ts';

const process = (sessions: number, received: number, uptime: number) =>
  ({
    node: 'apus@web-1:7',
    'sessions.count': sessions,
    'retained.count': 5,
    'messages.received': received,
    uptime_seconds: uptime,
  }) as never;

test('the figures of several processes are added, except those that all of them share', () => {
  expect(sumOfFigures([process(1, 10, 60), process(2, 20, 7)])).toEqual({
    'processes.count': 2,
    'sessions.count': 3,
    'retained.count': 5,
    'messages.received': 30,
    uptime_seconds: 60,
  });
  expect(sumOfFigures([])).toEqual({ 'processes.count': 0 });
});

test('there is no rate if different processes have answered', () => {
  const one = { atMs: 0, metrics: sumOfFigures([process(1, 10, 1)]) };
  const both = { atMs: 1000, metrics: sumOfFigures([process(1, 10, 2), process(1, 900, 60)]) };
  const later = { atMs: 2000, metrics: sumOfFigures([process(1, 14, 3), process(1, 901, 61)]) };
  expect(rateOf(one, both, 'messages.received')).toBe(undefined);
  expect(rateOf(both, later, 'messages.received')).toBe(5);
});

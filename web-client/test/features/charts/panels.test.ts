import { expect, test } from 'vitest';
import { arranged, nextChart, panelsOf } from '../../../src/features/charts/panels.ts';
import { rangeStatisticsOf } from '../../../src/features/charts/range-statistics.ts';
import { SampleRing } from '../../../src/features/charts/sample-ring.ts';
import type { Series } from '../../../src/features/charts/series.ts';

const series = (id: string, chart: number, isHidden = false): Series => ({
  id,
  connectionId: 'c',
  topicFilter: id,
  source: { kind: 'latency' },
  isHidden,
  chart,
});

test('each chart shows its own series, and hides the others in their places', () => {
  const panels = panelsOf([series('a', 0), series('b', 2), series('c', 0, true)]);
  expect(panels.map(({ chart, shown }) => [chart, shown])).toEqual([
    [0, 1],
    [2, 1],
  ]);
  expect(panels[1]?.series.map(({ id, isHidden }) => [id, isHidden])).toEqual([
    ['a', true],
    ['b', false],
    ['c', true],
  ]);
});

test('series are split into a chart each, and joined into one', () => {
  const split = arranged([series('a', 0), series('b', 0)], true);
  expect(split.map(({ chart }) => chart)).toEqual([0, 1]);
  expect(nextChart(split)).toBe(2);
  expect(arranged(split, false).map(({ chart }) => chart)).toEqual([0, 0]);
});

function ring(...values: number[]): SampleRing {
  const made = new SampleRing(100);
  for (const [index, value] of values.entries()) made.push(index * 1_000, value);
  return made;
}

test('a range is told by median, 95th percentile, deviation, change and samples a second', () => {
  expect(rangeStatisticsOf(ring(7, 4, 1, 2, 6, 50), 1_000, 4_000)).toEqual({
    median: 3,
    percentile95: 6,
    deviation: Math.sqrt(((4 - 3.25) ** 2 + (1 - 3.25) ** 2 + (2 - 3.25) ** 2 + (6 - 3.25) ** 2) / 4),
    change: 2,
    perSecond: 4 / 3,
  });
});

test('of an odd number of samples the median is the one in the middle', () => {
  expect(rangeStatisticsOf(ring(9, 1, 2), 0, 2_000)).toMatchObject({
    median: 2,
    percentile95: 9,
    change: -7,
  });
});

test('a range without a sample has no statistics', () => {
  expect(rangeStatisticsOf(ring(1, 2), 10_000, 20_000)).toBeUndefined();
});

import { expect, test } from 'vitest';
import { readCharts } from '../../src/features/charts/kept-charts.ts';
import { SERIES_MAX } from '../../src/features/charts/limits.ts';

const SERIES = {
  id: 'one',
  connectionId: 'here',
  topicFilter: 'room/+',
  source: { kind: 'value', path: ['rooms', 0] },
  isHidden: true,
};

test('series are read as they were kept, and other values are left out', () => {
  const read = readCharts({
    series: [SERIES, { ...SERIES, source: { kind: 'else' } }, 7],
    windowSeconds: 900,
  });
  expect(read).toEqual({ series: [SERIES], windowSeconds: 900, isSplit: false });
  expect(readCharts(undefined)).toEqual({ series: [], windowSeconds: 60, isSplit: false });
});

test('no more series are read than there may be', () => {
  expect(readCharts({ series: Array(SERIES_MAX + 1).fill(SERIES) }).series).toHaveLength(SERIES_MAX);
});

import { expect, test } from 'vitest';
import { readCharts } from '../../src/features/charts/kept-charts.ts';
import { SERIES_MAX } from '../../src/features/charts/limits.ts';
import { readFilter } from '../../src/features/messages/kept-filters.ts';
import { NO_FILTER } from '../../src/features/messages/message-filter.ts';

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

test('a filter is read as it was kept, and a value of another kind becomes the default', () => {
  const filter = { ...NO_FILTER, topic: 'a/#', kind: 'jsonpath', retainedOnly: true };
  expect(readFilter(filter)).toEqual(filter);
  expect(readFilter({ topic: 7, kind: 'else', direction: 'up', retainedOnly: 'yes' })).toEqual(NO_FILTER);
});

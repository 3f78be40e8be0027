import { expect, test } from 'vitest';
import { panelsOf } from '../../../src/features/charts/panels.ts';
import type { Series } from '../../../src/features/charts/series.ts';

const series = (id: string, isHidden = false): Series => ({
  id,
  connectionId: 'c',
  topicFilter: id,
  source: { kind: 'latency' },
  isHidden,
});

test('one chart shows all series, and each of several its own, with the others hidden in their places', () => {
  const all = [series('a'), series('b', true)];
  expect(panelsOf(all, false)).toEqual([all]);
  expect(panelsOf(all, true).map((panel) => panel.map(({ isHidden }) => isHidden))).toEqual([
    [false, true],
    [true, true],
  ]);
});

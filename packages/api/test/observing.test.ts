import { expect, test } from 'vitest';
import { observingHandlers } from '../src/handlers/observing.ts';

test('events of one millisecond stay in the order in which a process tells them, the newest first', () => {
  const [before, at] = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z'];
  const own = ['disconnected', 'kicked', 'connected'].map((event) => ({ event, last_at: at }));
  const others = [{ event: 'refused', last_at: before }];
  expect(observingHandlers.listClientEvents.merged([{ data: others }, { data: own }])).toEqual({
    data: [...own, ...others],
  });
});

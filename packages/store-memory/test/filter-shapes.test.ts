import { openOf, subscriptionTo } from '@apus/broker/samples';
import { expect, test } from 'vitest';
import { FILTER_SHAPES_MAX } from '../src/held-subscriptions.ts';
import { createMemoryStores } from '../src/index.ts';

/** Filters of different shapes, all of which match one topic. */
const FILTERS = Array.from({ length: 128 }, (_, number) =>
  Array.from({ length: 7 }, (_, level) => ((number >> level) & 1 ? '+' : 'x')).join('/'),
);

function world() {
  const { sessions, subscriptions } = createMemoryStores();
  const { session } = sessions.open(openOf('c')) as {
    session: Parameters<typeof subscriptions.put>[0];
  };
  const put = (filters: readonly string[], maximum: number) =>
    subscriptions.put(
      session,
      filters.map((topicFilter) => subscriptionTo(topicFilter)),
      maximum,
    );
  return { put, list: () => subscriptions.list(session) };
}

test('a session gets filters of so many shapes [SEC-WORK-1]', () => {
  const { put } = world();
  expect(put(FILTERS, 1_000).filter((outcome) => outcome === 'added')).toHaveLength(FILTER_SHAPES_MAX);
});

test('what was granted before is restored, whatever its shapes', () => {
  const { put, list } = world();
  put(FILTERS, Number.POSITIVE_INFINITY);
  expect(list()).toHaveLength(FILTERS.length);
});

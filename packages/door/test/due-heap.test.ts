import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { DueHeap } from '../src/timers/due-heap.ts';

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
const step = fc.oneof(
  fc.record({ do: fc.constant('set' as const), key, dueAtMs: fc.integer({ min: 0, max: 5 }) }),
  fc.record({ do: fc.constant('delete' as const), key }),
  fc.record({ do: fc.constant('take' as const), nowMs: fc.integer({ min: 0, max: 6 }) }),
);

test('behaves like a list that is searched for its earliest entry, the first of those that were set', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const heap = new DueHeap<string>();
      const model = new Map<string, number>();
      for (const current of steps) {
        if (current.do === 'set') {
          heap.set(current.key, current.dueAtMs, current.key);
          // Behind the others of its time.
          model.delete(current.key);
          model.set(current.key, current.dueAtMs);
        } else if (current.do === 'delete') {
          expect(heap.delete(current.key)).toBe(model.delete(current.key));
        } else {
          const taken = heap.takeDue(current.nowMs);
          const earliest = Math.min(...model.values());
          if (earliest > current.nowMs) expect(taken).toBeUndefined();
          else expect(taken).toBe([...model].find(([, dueAtMs]) => dueAtMs === earliest)?.[0]);
          if (taken !== undefined) model.delete(taken);
        }
        expect(heap.size).toBe(model.size);
        expect(heap.nextDueAtMs).toBe(model.size === 0 ? undefined : Math.min(...model.values()));
      }
    }),
    { numRuns: runs(1000) },
  );
});

test('entries of one time come in the order in which they were set, also those that were set again', () => {
  const heap = new DueHeap<string>();
  const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  for (const each of keys) heap.set(each, 5, each);
  heap.set('b', 5, 'b');
  const taken = [heap.takeDue(5), heap.takeDue(5)];
  heap.set('early', 4, 'early');
  heap.set('late', 5, 'late');
  while (heap.size > 0) taken.push(heap.takeDue(5));
  expect(taken).toEqual(['a', 'c', 'early', 'd', 'e', 'f', 'g', 'h', 'b', 'late']);
});

test('entries that are replaced or deleted again and again take no room', () => {
  const heap = new DueHeap<string>();
  for (let count = 0; count < 10_000; count += 1) {
    heap.set('set', 1_000_000 + count, 'set');
    heap.set('deleted', 1_000_000 + count, 'deleted');
    heap.delete('deleted');
  }
  expect(heap.size).toBe(1);
  expect(heap.length).toBeLessThan(100);
});

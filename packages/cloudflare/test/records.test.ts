import { expect, it } from 'vitest';
import { ROW_BYTES_MAX } from '../src/limits.ts';
import { Records, spilledKey } from '../src/storage/records.ts';
import { SimulatedObject } from './object/simulated-object.ts';

const ROWS = 200;

/** Records of which each has a row. */
function filled() {
  const object = new SimulatedObject();
  const records = new Records(object.storage);
  const keys = Array.from({ length: ROWS }, (_, index) => `r${String(index).padStart(4, '0')}`);
  records.commit(new Map([...keys, 'q0', 's0'].map((key) => [key, Buffer.from(key)])));
  object.rowsRead = 0;
  return { object, records, keys };
}

it('gives the records of a kind in the order of their keys', () => {
  const { records, keys } = filled();
  expect(Array.from(records.scan('r'), ([key, value]) => [key, String(value)])).toEqual(
    keys.map((key) => [key, key]),
  );
  expect(Array.from(records.scan('r', keys[150]), ([key]) => key)).toEqual(keys.slice(150));
});

it('reads few rows for a caller that looks at the first record', () => {
  const { object, records } = filled();
  for (const [key] of records.scan('r')) if (key) break;
  expect(object.rowsRead).toBeLessThan(ROWS / 2);
});

it('tells a value that fills its row from one that goes on in the next', () => {
  const { object, records } = filled();
  const sizes = { q1: ROW_BYTES_MAX - 1, q2: ROW_BYTES_MAX, q3: ROW_BYTES_MAX + 1, q4: 2 * ROW_BYTES_MAX };
  for (const [key, size] of Object.entries(sizes)) records.commit(new Map([[key, Buffer.alloc(size, key)]]));
  const found = Array.from(new Records(object.storage).scan('q'), ([key, value]) => [key, value.length]);
  expect(found).toEqual([['q0', 2], ...Object.entries(sizes)]);
});

it('reads a saved link without those of other links', () => {
  const { object, records } = filled();
  records.commit(new Map(['aa', 'ab', 'b'].map((id) => [spilledKey(id), Buffer.from(id)])));
  expect(records.text(spilledKey('aa'))).toBe('aa');
  expect(object.rowsRead).toBe(1);
  expect([...records.spilledIds()]).toEqual(['aa', 'ab', 'b']);
});

it('keeps a value that is larger than a row may be, and nothing of it when it is replaced or removed', () => {
  const { object, records } = filled();
  const large = Buffer.alloc(2_500_000, 'large');
  for (const key of ['q1', spilledKey('a')]) records.commit(new Map([[key, large]]));
  const found = () =>
    Array.from(new Records(object.storage).scan('q'), ([key, value]) => [key, value.length]);
  expect(found()).toEqual([
    ['q0', 2],
    ['q1', large.length],
  ]);
  expect(large.equals(records.get(spilledKey('a')) ?? new Uint8Array())).toBe(true);
  const others = new Records(object.storage);
  for (const _ of others.scan('q'));
  others.commit(new Map([['q1', Buffer.from('short')]]));
  expect([...object.rows.keys()].filter((key) => key.startsWith('q'))).toEqual(['q0', 'q1']);
  records.commit(new Map([[spilledKey('a'), undefined]]));
  expect([...object.rows.keys()].filter((key) => key.startsWith('y'))).toEqual([]);
});

it('removes an entry of a stream that it has not read whole, however many rows it has', () => {
  const { object, records } = filled();
  records.commit(new Map([['e1', Buffer.alloc(2_500_000, 'large')]]));
  new Records(object.storage).commit(new Map([['e1', undefined]]));
  expect([...object.rows.keys()].filter((key) => key.startsWith('e'))).toEqual([]);
});

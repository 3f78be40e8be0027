import { expect, it } from 'vitest';
import { Records } from '../src/storage/records.ts';
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

it('reads an attachment without those of other links', () => {
  const { object, records } = filled();
  for (const id of ['a', 'ab', 'b']) records.spill(id, Buffer.from(id));
  expect(String(records.spilled('a'))).toBe('a');
  expect(object.rowsRead).toBe(1);
  records.dropSpilledExcept(new Set(['ab']));
  expect(['a', 'ab', 'b'].map((id) => String(records.spilled(id)))).toEqual(['', 'ab', '']);
});

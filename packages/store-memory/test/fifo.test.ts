import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fifo } from '../src/fifo.ts';

describe('Fifo', () => {
  it('gives back the oldest entry first, in any order of calls', () => {
    fc.assert(
      // Runs of pushes and of shifts, long enough to be compacted.
      fc.property(fc.array(fc.integer({ min: -100, max: 100 }), { maxLength: 30 }), (runs) => {
        const fifo = new Fifo<number>();
        const model: number[] = [];
        let count = 0;
        for (const run of runs) {
          for (let step = 0; step < Math.abs(run); step += 1) {
            if (run < 0) expect(fifo.shift()).toBe(model.shift());
            else {
              fifo.push(count);
              model.push(count);
              count += 1;
            }
          }
          expect(fifo.length).toBe(model.length);
          expect(fifo.toArray()).toEqual(model);
        }
      }),
    );
  });

  it('takes time in proportion to the number of calls', () => {
    const fifo = new Fifo<number>();
    for (let item = 0; item < 200_000; item += 1) fifo.push(item);
    let last = -1;
    for (let item = fifo.shift(); item !== undefined; item = fifo.shift()) last = item;
    expect(last).toBe(199_999);
    expect(fifo.length).toBe(0);
  });
});

import { beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_SIZE, runHistory, warmUp } from './history.ts';
import { reportOf } from './report.ts';

/** `npm run test:faults` runs many more, and longer ones. A history ends when everything has arrived, not by the clock. */
const SEEDS = [1, 2, 3, 4];
const SIZE = { ...DEFAULT_SIZE, durationMs: 4_000 };
/** Seconds where nothing else runs; a machine that is busy may take its time. */
const TIMEOUT_MS = 180_000;

beforeAll(warmUp, TIMEOUT_MS);

describe('a deployment while everything goes wrong', () => {
  it.each(SEEDS)(
    'nothing is lost, doubled, out of order or leaked (seed %i)',
    async (seed) => {
      const history = await runHistory({ seed, size: SIZE });
      if (history.problems.length > 0) expect.fail(reportOf(history));
      expect(history.counts).toMatchObject({
        acknowledged: expect.any(Number),
        faults: expect.any(Number),
      });
      expect(history.counts.acknowledged).toBeGreaterThan(0);
      expect(history.counts.faults).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );

  it(
    'a seed gives the same history again',
    async () => {
      const [one, other] = [
        await runHistory({ seed: 5, size: SIZE }),
        await runHistory({ seed: 5, size: SIZE }),
      ];
      expect(other.trace.entries).toEqual(one.trace.entries);
      expect(other.struck).toEqual(one.struck);
    },
    TIMEOUT_MS,
  );

  it(
    'a fault that is left out strikes no more, and the others do',
    async () => {
      const { struck, steps } = await runHistory({ seed: 6, size: SIZE });
      const only = new Set(struck.slice(0, 3));
      const less = await runHistory({ seed: 6, size: SIZE, steps, only });
      expect(less.struck.length).toBeGreaterThan(0);
      expect([...only]).toEqual(expect.arrayContaining([...less.struck]));
    },
    TIMEOUT_MS,
  );
});

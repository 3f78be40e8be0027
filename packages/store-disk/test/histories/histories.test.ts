import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runs } from '../../../../test/support/runs.ts';
import { DRAWS } from './cast.ts';
import { History } from './history.ts';

const STEPS = { minLength: 20, maxLength: 400, size: 'max' } as const;

/** A history takes some 7 ms. Shorter ones that fail as well are looked for until then. */
const SHRINK_MS_MAX = 30_000;

it('a process that dies at any moment delivers everything, QoS 2 once, in order [MQTT-4.3.3-10] [MQTT-4.6.0-5]', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(DRAWS - 1), STEPS), async (draws) => {
      const history = new History();
      await history.play(draws);
      expect(history.violations).toEqual([]);
    }),
    { numRuns: runs(2_000), interruptAfterTimeLimit: SHRINK_MS_MAX },
  );
}, 120_000);

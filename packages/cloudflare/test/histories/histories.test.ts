import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sized } from '../../../../test/support/runs.ts';
import { DRAWS } from '../../../store-disk/test/histories/cast.ts';
import { HubHistory } from './history.ts';

const STEPS = { minLength: 20, maxLength: 400, size: 'max' } as const;

/** In some histories most links are saved in rows. */
const SIZES = fc.constantFrom(undefined, 600);

/** More: `APUS_FAULT_SEED=7 APUS_FAULT_HISTORIES=1000`. */
const HISTORIES = Number(process.env.APUS_FAULT_HISTORIES ?? sized(10, 30));
const { APUS_FAULT_SEED: SEED } = process.env;

it('an object that sleeps, is reset, or has a twin delivers everything, QoS 2 once, in order [MQTT-4.3.3-10] [MQTT-4.6.0-5]', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(DRAWS - 1), STEPS), SIZES, async (draws, attachmentBytesMax) => {
      const history = new HubHistory(attachmentBytesMax);
      await history.play(draws);
      expect(history.violations).toEqual([]);
    }),
    { endOnFailure: true, numRuns: HISTORIES, ...(SEED !== undefined && { seed: Number(SEED) }) },
  );
}, 3_600_000);

it('the same draws give the same history', async () => {
  const draws = Array.from({ length: 200 }, (_, index) => (index * 7919) % DRAWS);
  const [one, other] = [new HubHistory(), new HubHistory()];
  await one.play(draws);
  await other.play(draws);
  expect(other.frames).toEqual(one.frames);
});

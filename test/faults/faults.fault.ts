import { expect, it } from 'vitest';
import { runFaults } from './fault-run.ts';

/**
 * `npm run test:faults` runs this alone: `APUS_FAULT_SEED=7 APUS_FAULT_SECONDS=3600 npm run test:faults` for an hour.
 * Without a seed every run has another; a failure names its own.
 */
const SECONDS = Number(process.env.APUS_FAULT_SECONDS ?? 10);
const SEED = Number(process.env.APUS_FAULT_SEED ?? 1);
/** What goes wrong takes its time: functions time out, visibility lapses. */
const OVERHEAD_MS = 120_000;

it(
  `nothing is lost, doubled or out of order in ${SECONDS} s of faults (seed ${SEED})`,
  async () => {
    const { problems, counts, events, deadLetters } = await runFaults({ seed: SEED, seconds: SECONDS });
    const context = JSON.stringify({ seed: SEED, counts, events, deadLetters }, undefined, 2);
    expect(problems, context).toEqual([]);
    expect(deadLetters, context).toBe(0);
    expect(counts.acknowledged, context).toBeGreaterThan(0);
  },
  SECONDS * 1000 + OVERHEAD_MS,
);

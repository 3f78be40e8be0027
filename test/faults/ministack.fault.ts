import { expect, it } from 'vitest';
import { DEFAULT_RATES, type Rates } from './fault-plan.ts';
import { RealTime } from './ministack/real-time.ts';
import { smokeSteps } from './ministack/smoke-steps.ts';
import { startMinistackWorld } from './ministack/start-ministack-world.ts';
import { DEFAULT_SIZE, play } from './play.ts';
import { reportOf } from './report.ts';
import type { Patience } from './stage.ts';

/**
 * Time is the machine's here, so a history cannot be repeated step for step; the seed determines its steps and faults.
 */
const SEED = Number(process.env.APUS_FAULT_SEED ?? 1);
const SIZE = { ...DEFAULT_SIZE, durationMs: 10_000, ages: false, hasOutside: false };
const PATIENCE: Patience = { quietMsMax: 60_000, aftermathMs: 3_000, lookEveryMs: 500, repairedWithinMs: 0 };
const TIMEOUT_MS = 300_000;

/** A short history has few occurrences. */
const RATES: Rates = {
  ...DEFAULT_RATES,
  'kill-at-checkpoint': 0.01,
  'kill-before-post': 0.02,
  'kill-after-post': 0.02,
  'queue-redelivers': 0.2,
  // No history waits for the sweep.
  'no-disconnect': 0,
};

it(
  `nothing is lost, doubled, out of order or leaked over DynamoDB and SQS of MiniStack (seed ${SEED})`,
  async () => {
    const theatre = {
      time: new RealTime(),
      patience: PATIENCE,
      open: startMinistackWorld,
    };
    const history = await play(theatre, {
      seed: SEED,
      size: SIZE,
      rates: RATES,
      steps: smokeSteps(SEED, SIZE),
    });
    const { counts, faults, problems } = history;
    process.stdout.write(`${JSON.stringify(counts)}\n${JSON.stringify(faults)}\n`);
    if (problems.length > 0) expect.fail(reportOf(history));
    expect(counts.acknowledged).toBeGreaterThan(0);
    expect(faults['kill-at-checkpoint']).toBeGreaterThan(0);
    expect(faults['queue-redelivers']).toBeGreaterThan(0);
    expect(history.steps.filter((step) => step.kind === 'end' && step.how === 'vanish')).not.toEqual([]);
  },
  TIMEOUT_MS,
);

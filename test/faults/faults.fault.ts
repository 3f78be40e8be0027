import { expect, it } from 'vitest';
import { DEFAULT_SIZE, type History, runHistory, warmUp } from './history.ts';
import { reportOf } from './report.ts';
import { shrink } from './shrink.ts';

/**
 * `APUS_FAULT_SEED=7 APUS_FAULT_SECONDS=3600 npm run test:faults` runs the histories of the seeds 7, 8, 9 … for an
 * hour. A failure names its seed; the same seed gives the same history.
 */
const SECONDS = Number(process.env.APUS_FAULT_SECONDS ?? 60);
const SEED = Number(process.env.APUS_FAULT_SEED ?? 1);
/** How long clients are active in each history, in seconds of simulated time. */
const HISTORY_SECONDS = Number(process.env.APUS_FAULT_HISTORY_SECONDS ?? DEFAULT_SIZE.durationMs / 1000);
/** Histories that the search for the shortest failing one may try. */
const SHRINK_TRIES = Number(process.env.APUS_FAULT_SHRINK ?? 150);
/** A history that has begun is played to its end, and a failed one is shortened. */
const OVERHEAD_MS = 3_600_000;

it(
  `nothing is lost, doubled, out of order or leaked in ${SECONDS} s of histories from seed ${SEED} on`,
  async () => {
    const size = { ...DEFAULT_SIZE, durationMs: HISTORY_SECONDS * 1000 };
    const totals: Record<string, number> = {};
    const faults: Record<string, number> = {};
    await warmUp();
    const endsAtMs = Date.now() + SECONDS * 1000;
    const failed: History[] = [];
    let seed = SEED;
    for (; seed === SEED || Date.now() < endsAtMs; seed += 1) {
      const history = await runHistory({ seed, size });
      addTo(totals, history.counts);
      addTo(faults, history.faults);
      if (history.problems.length === 0) continue;
      // Printed at once, so that a developer need not wait for the end.
      process.stdout.write(`${failureOf(history)}\n`);
      failed.push(history);
    }
    process.stdout.write(
      `seeds ${SEED} to ${seed - 1}: ${JSON.stringify(totals)}\n${JSON.stringify(faults)}\n`,
    );
    expect(totals.acknowledged).toBeGreaterThan(0);
    const [first] = failed;
    if (first === undefined) return;
    const shortest = await shrink(first, { seed: first.seed, size }, { triesMax: SHRINK_TRIES });
    expect.fail([...failed.map(failureOf), reportOf(first, shortest)].join('\n'));
  },
  SECONDS * 1000 + OVERHEAD_MS,
);

function failureOf({ seed, problems }: History): string {
  return `seed ${seed} fails: ${problems[0]?.what}`;
}

function addTo(totals: Record<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + count;
}

import { beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_SIZE, type History, type HistoryOptions, runHistory, warmUp } from './history.ts';
import { MUTATIONS, type Mutation, ratesOf } from './mutations.ts';

/** If a missing protection shows in none of this many histories, it is not tested. */
const HISTORIES_MAX = Number(process.env.APUS_MUTATION_HISTORIES ?? 40);
const SEED = Number(process.env.APUS_FAULT_SEED ?? 1);
const ONLY = process.env.APUS_MUTATION ?? '';
/** Short histories: a missing protection shows early. */
const DURATION_MS = 6_000;
const TIMEOUT_MS = 1_800_000;

beforeAll(warmUp, TIMEOUT_MS);

describe('a run fails without a protection, and passes with it', () => {
  it.each(MUTATIONS.filter(({ name }) => name.includes(ONLY)))(
    '$name',
    async (mutation) => {
      const found = await findHistory(mutation);
      if (found === undefined) expect.fail(`nothing was found in ${HISTORIES_MAX} histories`);
      const [problem] = wrongIn(found, mutation);
      process.stdout.write(`${mutation.name}: seed ${found.seed}, ${problem}\n`);
      const control = await runHistory(historyOf(mutation, found.seed));
      expect(wrongIn(control, mutation)).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

function historyOf(mutation: Mutation, seed: number): HistoryOptions {
  const { alterations: _, install: __, rates: ___, durationMs = DURATION_MS, ...others } = mutation;
  const { hasRoom = false, hasOutside = false, hasConflated = false } = mutation;
  return {
    ...others,
    seed,
    size: { ...DEFAULT_SIZE, durationMs, ages: false, hasRoom, hasOutside, hasConflated },
    rates: ratesOf(mutation),
  };
}

async function findHistory(mutation: Mutation): Promise<History | undefined> {
  const { alterations, install } = mutation;
  for (let seed = SEED; seed < SEED + HISTORIES_MAX; seed += 1) {
    const history = await runHistory({ ...historyOf(mutation, seed), alterations, install });
    if (wrongIn(history, mutation).length > 0) return history;
  }
  return undefined;
}

function wrongIn({ problems }: History, { finds }: Mutation): string[] {
  return problems.map(({ what }) => what).filter((what) => finds.some((kind) => what.startsWith(`${kind}:`)));
}

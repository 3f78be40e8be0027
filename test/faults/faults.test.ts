import { GatheredJobs } from '@apus/cloud/lambda';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { DEFAULT_SIZE, type History, runHistory, warmUp } from './history.ts';
import { reportOf } from './report.ts';

/** `npm run test:faults` runs many more, and longer ones. A history ends when everything has arrived, not by the clock. */
const SEEDS = [1, 2, 50];
/** At every tenth seed all clients stay for two hours. */
const AGED_SEED = 50;
const SIZE = { ...DEFAULT_SIZE, durationMs: 3_000 };
/** Seconds where nothing else runs; a machine that is busy may take its time. */
const TIMEOUT_MS = 180_000;

beforeAll(warmUp, TIMEOUT_MS);
afterEach(() => {
  vi.restoreAllMocks();
});

const histories = new Map<number, History>();
const historyOf = async (seed: number): Promise<History> => {
  const history = histories.get(seed) ?? (await runHistory({ seed, size: SIZE }));
  histories.set(seed, history);
  return history;
};

describe('a deployment while everything goes wrong', () => {
  it.each(SEEDS)(
    'nothing is lost, doubled, out of order or leaked (seed %i)',
    async (seed) => {
      const history = await historyOf(seed);
      if (history.problems.length > 0) expect.fail(reportOf(history));
      expect(history.counts.acknowledged).toBeGreaterThan(0);
      expect(history.counts.faults).toBeGreaterThan(0);
      expect(history.counts.resumes).toBeGreaterThan(0);
      // The one that comes when the faults have stopped, and others that came before and have not been cut since.
      expect(history.counts.probes).toBeGreaterThan(seed === AGED_SEED ? 0 : 1);
    },
    TIMEOUT_MS,
  );

  it(
    'readers of a stream that keeps four messages miss some, and are told',
    async () => {
      // Not in each of these short histories.
      const told = await Promise.all(SEEDS.map(async (seed) => (await historyOf(seed)).counts.gapsTold ?? 0));
      expect(told.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );

  it(
    'readers of streams move, and go on reading',
    async () => {
      const moves = await Promise.all(
        SEEDS.map(async (seed) => (await historyOf(seed)).counts.readerMoves ?? 0),
      );
      expect(moves.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );

  it(
    'connections are cut at the age of two hours, among them one that owes a will, and their sessions go on',
    async () => {
      const { counts } = await historyOf(AGED_SEED);
      // Those whose transport knows of no extensions. All others have moved before.
      expect(counts.agedConnections).toBeGreaterThanOrEqual(SIZE.subscribers);
      expect(counts.moves).toBeGreaterThanOrEqual(SIZE.publishers + SIZE.members - 1);
      expect(counts.wills).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );

  it(
    'a seed gives the same history again',
    async () => {
      const first = await historyOf(1);
      const again = await runHistory({ seed: 1, size: SIZE });
      expect(again.trace.entries).toEqual(first.trace.entries);
      expect(again.struck).toEqual(first.struck);
    },
    TIMEOUT_MS,
  );

  it(
    'faults that are left out strike no more',
    async () => {
      const { struck, steps } = await historyOf(2);
      const only = new Set(struck.slice(0, 3));
      const less = await runHistory({ seed: 2, size: SIZE, steps, only });
      expect(less.struck.length).toBeGreaterThan(0);
      expect([...only]).toEqual(expect.arrayContaining([...less.struck]));
    },
    TIMEOUT_MS,
  );

  it(
    'the run can fail: it notices a message that the queue of a wide filter never gets',
    async () => {
      const install = () => {
        vi.spyOn(GatheredJobs.prototype, 'flush').mockResolvedValue();
      };
      const { problems } = await runHistory({ seed: 1, size: SIZE, install });
      expect(problems.map(({ what }) => what.split(':', 1)[0])).toContain('lost');
    },
    TIMEOUT_MS,
  );
});

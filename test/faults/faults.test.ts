import { GatheredJobs } from '@apus/aws/lambda';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { cases } from '../support/runs.ts';
import { DEFAULT_SIZE, type History, runHistory, warmUp } from './history.ts';
import { reportOf } from './report.ts';

/**
 * `npm run test:faults` runs many more, and longer ones. A history ends when all messages have arrived, and not by the
 * clock.
 */
const SEEDS = cases([1, 50], [2]);
/** With every tenth seed all clients stay for two hours. */
const AGED_SEED = 50;
const SIZE = { ...DEFAULT_SIZE, durationMs: 3_000 };
/** Seconds on an idle machine; a busy machine may need longer. */
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

describe('a deployment during faults', () => {
  it.each(SEEDS)(
    'nothing is lost, doubled, out of order or leaked (seed %i)',
    async (seed) => {
      const history = await historyOf(seed);
      if (history.problems.length > 0) expect.fail(reportOf(history));
      expect(history.counts.acknowledged).toBeGreaterThan(0);
      expect(history.counts.faults).toBeGreaterThan(0);
      expect(history.counts.resumes).toBeGreaterThan(0);
      // The connection after the faults, and earlier ones that have not been cut.
      expect(history.counts.probes).toBeGreaterThan(seed === AGED_SEED ? 0 : 1);
    },
    TIMEOUT_MS,
  );

  it(
    'tells readers of a stream that keeps four messages which ones they miss',
    async () => {
      // This does not happen in each of these short histories.
      const told = await Promise.all(SEEDS.map(async (seed) => (await historyOf(seed)).counts.gapsTold ?? 0));
      expect(told.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );

  it(
    'moves readers of streams, which go on reading',
    async () => {
      const moves = await Promise.all(
        SEEDS.map(async (seed) => (await historyOf(seed)).counts.readerMoves ?? 0),
      );
      expect(moves.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );

  it(
    'continues sessions after connections are cut at two hours, and publishes the will that is due',
    async () => {
      const { counts } = await historyOf(AGED_SEED);
      // Connections of a transport without extensions. All others have moved before.
      expect(counts.agedConnections).toBeGreaterThanOrEqual(SIZE.subscribers);
      expect(counts.moves).toBeGreaterThanOrEqual(SIZE.publishers + SIZE.members - 1);
      expect(counts.wills).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );

  it(
    'has the same history again with the same seed',
    async () => {
      const first = await historyOf(1);
      const again = await runHistory({ seed: 1, size: SIZE });
      expect(again.trace.entries).toEqual(first.trace.entries);
      expect(again.struck).toEqual(first.struck);
    },
    TIMEOUT_MS,
  );

  it(
    'does not meet faults that are left out',
    async () => {
      const { struck, steps } = await historyOf(1);
      const only = new Set(struck.slice(0, 3));
      const less = await runHistory({ seed: 1, size: SIZE, steps, only });
      expect(less.struck.length).toBeGreaterThan(0);
      expect([...only]).toEqual(expect.arrayContaining([...less.struck]));
    },
    TIMEOUT_MS,
  );

  it(
    'fails if the queue of a wide filter drops a message',
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

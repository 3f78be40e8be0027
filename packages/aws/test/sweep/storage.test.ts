import type { UsageRow } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { resume, type SweepProgress } from '../../src/sweep/progress.ts';
import { waitingTallied, writeStorage } from '../../src/sweep/storage.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const START_MS = Date.parse('2026-11-25T18:00:00Z');

const RETAINED = { tenant: 'acme', messages: 1, bytes: 2_000, countedMessages: 1, countedBytes: 1_000 };

function done(progress: SweepProgress, counts: Partial<SweepProgress> = {}): SweepProgress {
  return { ...progress, ...counts, segments: progress.segments.map(() => 'done') };
}

/** Where rows are kept by their names, as the table does. */
async function written(...passes: readonly SweepProgress[]): Promise<Map<string, UsageRow>> {
  const rows = new Map<string, UsageRow>();
  const put = async (name: string, row: UsageRow) => void rows.set(`${name} ${row.tenant} ${row.hour}`, row);
  for (const pass of passes) await writeStorage({ put }, pass);
  return rows;
}

const byteSeconds = (rows: Map<string, UsageRow>): readonly number[] =>
  [...rows.values()].map(({ counts }) => counts.storageByteSeconds);

describe('storage of a tenant in a deployment', () => {
  it('is what is retained, for the time since the pass before, and nothing at the first', async () => {
    const first = done(resume(undefined, 4, START_MS), { retained: [RETAINED] });
    expect(byteSeconds(await written(first))).toEqual([]);
    const next = done(resume(first, 4, START_MS + 10 * MINUTE_MS), { retained: [RETAINED] });
    const rows = await written(next);
    expect([...rows.values()]).toMatchObject([
      { tenant: 'acme', hour: '2026-11-25T18', counts: { storageByteSeconds: 1_000 * 600 } },
    ]);
  });

  it('has waiting messages by the pass that reads them, for the day since the one before', async () => {
    const first = done(resume(undefined, 4, START_MS));
    const waiting = [{ tenant: 'acme', bytes: 500 }];
    const between = done(resume(first, 4, START_MS + HOUR_MS), { waiting });
    expect(byteSeconds(await written(between))).toEqual([]);
    const daily = done(resume(between, 4, START_MS + 24 * HOUR_MS), { waiting });
    expect(daily.readsMessages).toBe(true);
    expect(byteSeconds(await written(daily))).toEqual([500 * 24 * 3_600]);
  });

  it('is written once where two runs end the same pass', async () => {
    const first = done(resume(undefined, 4, START_MS));
    const next = done(resume(first, 4, START_MS + HOUR_MS), { retained: [RETAINED] });
    expect(byteSeconds(await written(next, next))).toEqual([1_000 * 3_600]);
  });

  it('is charged for an hour at most where the sweep has stood still', async () => {
    const first = done(resume(undefined, 4, START_MS));
    const late = done(resume(first, 4, START_MS + 20 * HOUR_MS), { retained: [RETAINED] });
    expect(byteSeconds(await written(late))).toEqual([1_000 * 3_600]);
  });

  it('goes on from the last pass that was completed, where one was given up', async () => {
    const first = done(resume(undefined, 4, START_MS));
    const givenUp = resume(first, 4, START_MS + 10 * MINUTE_MS);
    const next = done(resume(givenUp, 2, START_MS + 20 * MINUTE_MS), { retained: [RETAINED] });
    expect(byteSeconds(await written(next))).toEqual([1_000 * 1_200]);
  });

  it('is never negative, also where the numbers are', async () => {
    const first = done(resume(undefined, 4, START_MS));
    const wrong = { ...RETAINED, countedBytes: -4_096 };
    const next = done(resume(first, 4, START_MS + HOUR_MS), { retained: [wrong] });
    expect(byteSeconds(await written(next))).toEqual([]);
  });

  it('is added up for a thousand tenants, so that what a pass notes fits into an item', () => {
    const found = Array.from({ length: 1_500 }, (_, index) => ({
      kind: 'waiting' as const,
      tenant: `tenant-${index}`,
      bytes: 1,
    }));
    const tallies = waitingTallied(waitingTallied([], found), found);
    expect(tallies).toHaveLength(1_000);
    expect(tallies[0]).toEqual({ tenant: 'tenant-0', bytes: 2 });
  });
});

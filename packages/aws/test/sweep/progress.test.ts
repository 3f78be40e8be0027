import { describe, expect, it } from 'vitest';
import { resume, type SweepProgress } from '../../src/sweep/progress.ts';

const HOUR_MS = 3_600_000;
const HOLDER = { tenant: 'default', kind: 'tenant', name: '' } as const;

/** The progress as it stands when all segments have been read. */
function done(progress: SweepProgress): SweepProgress {
  return { ...progress, segments: progress.segments.map(() => 'done') };
}

describe('the table of messages', () => {
  it('is read by the first pass, and then by one a day', () => {
    const first = resume(undefined, 4, 1e12);
    expect(first).toMatchObject({ readsMessages: true, messagesReadAtMs: 1e12 });
    expect(first.segments).toHaveLength(8);
    const next = resume(done(first), 4, 1e12 + 24 * HOUR_MS - 1);
    expect(next).toMatchObject({ readsMessages: false, messagesReadAtMs: 1e12 });
    expect(next.segments).toHaveLength(4);
    expect(resume(done(next), 4, 1e12 + 24 * HOUR_MS).readsMessages).toBe(true);
  });

  it('is read an hour after it was, where a quota has refused a client', () => {
    const first = { ...done(resume(undefined, 4, 1e12)), wantedHolders: [HOLDER] };
    expect(resume(first, 4, 1e12 + HOUR_MS - 1)).toMatchObject({
      readsMessages: false,
      held: [{ account: HOLDER }],
    });
    expect(resume(first, 4, 1e12 + HOUR_MS).readsMessages).toBe(true);
  });

  it('is read further by the next run, and from the start where a pass was given up', () => {
    const first = resume(undefined, 4, 1e12);
    expect(resume(first, 4, 1e12 + 1)).toBe(first);
    expect(resume(first, 2, 1e12 + 1)).toMatchObject({ pass: 2, readsMessages: true });
  });
});

import type { HoldingAccount, SweepPosition } from '@apus/store-dynamodb';
import { emptyTallies, type HeldTally } from './held-tally.ts';
import type { RetainedTally } from './retained-tally.ts';

/**
 * How far the sweep has come. One pass goes over the whole table, in as many runs as it takes. Two runs at once each go
 * on from where they began, and the one that notes its progress last wins: parts are looked at twice, none is left out.
 */
export interface SweepProgress {
  /** Ascending. */
  readonly pass: number;
  readonly startedAtMs: number;
  /** When the pass before began; 0 for the first. */
  readonly previousStartedAtMs: number;
  /** Where each segment goes on. */
  readonly segments: readonly (SweepPosition | 'begin' | 'done')[];
  readonly connections: number;
  readonly sessions: number;
  /** Absent in the progress of an earlier version. */
  readonly retained?: readonly RetainedTally[];
  /** Holders that this pass counts, and those that the next one is to count. Absent as well. */
  readonly held?: readonly HeldTally[];
  readonly wantedHolders?: readonly HoldingAccount[];
  /** Something could not be dealt with: the next pass looks back as far as this one. */
  readonly hasFailed: boolean;
}

export function isComplete({ segments }: SweepProgress): boolean {
  return segments.every((segment) => segment === 'done');
}

/** The pass goes on, or the next one begins. A table that is cut otherwise than before begins anew. */
export function resume(noted: unknown, segments: number, nowMs: number): SweepProgress {
  const known = isProgress(noted) ? noted : undefined;
  if (known !== undefined && !isComplete(known) && known.segments.length === segments) return known;
  return {
    pass: (known?.pass ?? 0) + 1,
    startedAtMs: nowMs,
    previousStartedAtMs: known === undefined ? 0 : lookedAtUntilMs(known),
    segments: Array.from({ length: segments }, () => 'begin'),
    connections: 0,
    sessions: 0,
    retained: [],
    held: emptyTallies(known?.wantedHolders ?? []),
    wantedHolders: [],
    hasFailed: false,
  };
}

/** A pass that was given up has looked at some things only. */
function lookedAtUntilMs(progress: SweepProgress): number {
  const { hasFailed, startedAtMs, previousStartedAtMs } = progress;
  return isComplete(progress) && !hasFailed ? startedAtMs : previousStartedAtMs;
}

function isProgress(value: unknown): value is SweepProgress {
  if (typeof value !== 'object' || value === null) return false;
  const { pass, startedAtMs, previousStartedAtMs, segments, connections, sessions } =
    value as Partial<SweepProgress>;
  const numbers = [pass, startedAtMs, previousStartedAtMs, connections, sessions];
  return numbers.every((each) => typeof each === 'number') && Array.isArray(segments);
}

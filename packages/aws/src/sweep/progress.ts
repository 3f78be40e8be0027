import type { HoldingAccount, SweepPosition } from '@apus/store-dynamodb';
import { emptyTallies, type HeldTally } from './held-tally.ts';
import type { RetainedTally } from './retained-tally.ts';
import { emptyShapeTallies, type ShapeTally } from './shape-tally.ts';
import type { WaitingTally } from './storage.ts';

/** Reads the messages' table if no pass has read it for this long: the leftovers there are not urgent. */
const MESSAGES_EVERY_MS = 24 * 60 * 60 * 1_000;

/** Sooner, if a quota has refused a client, perhaps for messages that TTL has removed since. */
const WANTED_MESSAGES_EVERY_MS = 60 * 60 * 1_000;

/**
 * How far the sweep has come. A pass goes over the whole table of sessions, and once a day over that of messages, in
 * as many runs as it takes. Two runs at the same time each go on from where they began, and the last write of the
 * progress wins: some parts are looked at twice, none is left out.
 */
export interface SweepProgress {
  /** Ascending. */
  readonly pass: number;
  readonly startedAtMs: number;
  /** When the previous pass began; 0 for the first. */
  readonly previousStartedAtMs: number;
  /** Whether this pass reads the messages' table. */
  readonly readsMessages: boolean;
  /** When the last pass that read messages began; 0 before the first. */
  readonly messagesReadAtMs: number;
  /** Where each segment goes on: first those of the sessions' table, then those of the messages'. */
  readonly segments: readonly (SweepPosition | 'begin' | 'done')[];
  readonly connections: number;
  readonly sessions: number;
  readonly retained: readonly RetainedTally[];
  /** If usage is counted, and this pass reads messages. */
  readonly waiting?: readonly WaitingTally[];
  /** When the last completed pass began; and the last of those that read messages. Undefined before the first. */
  readonly retainedSinceMs?: number | undefined;
  readonly waitingSinceMs?: number | undefined;
  /** Holders that this pass counts, and those for the next one. */
  readonly held: readonly HeldTally[];
  readonly wantedHolders: readonly HoldingAccount[];
  /** Of tenants among the holders that this pass counts. */
  readonly shapes?: readonly ShapeTally[];
  /** Something could not be handled: the next pass looks back as far as this one. */
  readonly hasFailed: boolean;
}

export function isComplete({ segments }: SweepProgress): boolean {
  return segments.every((segment) => segment === 'done');
}

/** Goes on with the pass, or begins the next one. If the number of segments has changed, the pass begins anew. */
export function resume(noted: unknown, segments: number, nowMs: number): SweepProgress {
  const known = isProgress(noted) ? noted : undefined;
  if (known !== undefined && !isComplete(known) && known.segments.length === segmentsIn(known, segments))
    return known;
  const messagesReadAtMs = known === undefined ? 0 : readMessagesAtMs(known);
  const wantedHolders = known?.wantedHolders ?? [];
  const dueAfterMs = wantedHolders.length > 0 ? WANTED_MESSAGES_EVERY_MS : MESSAGES_EVERY_MS;
  const readsMessages = nowMs - messagesReadAtMs >= dueAfterMs;
  return {
    pass: (known?.pass ?? 0) + 1,
    startedAtMs: nowMs,
    previousStartedAtMs: known === undefined ? 0 : lookedAtUntilMs(known),
    readsMessages,
    messagesReadAtMs: readsMessages ? nowMs : messagesReadAtMs,
    segments: Array.from({ length: segmentsIn({ readsMessages }, segments) }, () => 'begin'),
    connections: 0,
    sessions: 0,
    retained: [],
    waiting: [],
    ...storedSince(known),
    held: emptyTallies(wantedHolders),
    wantedHolders: [],
    shapes: emptyShapeTallies(wantedHolders),
    hasFailed: false,
  };
}

/** The times up to which storage has been counted. */
function storedSince(known: SweepProgress | undefined): Partial<SweepProgress> {
  if (known === undefined) return {};
  const { startedAtMs, readsMessages, retainedSinceMs, waitingSinceMs } = known;
  if (!isComplete(known)) return { retainedSinceMs, waitingSinceMs };
  return { retainedSinceMs: startedAtMs, waitingSinceMs: readsMessages ? startedAtMs : waitingSinceMs };
}

function segmentsIn({ readsMessages }: Pick<SweepProgress, 'readsMessages'>, segments: number): number {
  return readsMessages ? 2 * segments : segments;
}

/** 0 after a pass that was given up: it has counted only a part. */
function readMessagesAtMs(progress: SweepProgress): number {
  const { readsMessages, messagesReadAtMs } = progress;
  return readsMessages && !isComplete(progress) ? 0 : messagesReadAtMs;
}

/** A pass that was given up has looked only at a part. */
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

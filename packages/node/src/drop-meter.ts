import type { Clock, DropCounts, DropNotice, DropReason, Drops, SessionRef } from '@apus/broker';

/** A client that goes on missing messages is told of it once in this many milliseconds. */
const NOTICE_INTERVAL_MS = 1000;

/**
 * Sessions whose drops are remembered, some 200 bytes each. Beyond it the session with the oldest drop is forgotten.
 */
const SESSIONS_MAX = 100_000;

type Counts = Partial<Record<DropReason, number>>;

interface SessionDrops {
  readonly incarnation: string;
  readonly counts: Counts;
  /** Drops that the client has not been told. */
  untold: Counts;
  askedAtMs: number;
}

const NOTHING: DropCounts = {};

/** Messages that both doors have dropped since the process started: in all, and for each session. */
export class DropMeter implements Drops {
  readonly #clock: Clock;
  readonly #total: Counts = {};
  #unrouted = 0;
  readonly #sessions = new Map<string, SessionDrops>();
  /** Keys of sessions whose clients have not been told. */
  readonly #untold = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** In all. */
  get total(): DropCounts {
    return this.#total;
  }

  /** Messages that had no subscriber. */
  get unrouted(): number {
    return this.#unrouted;
  }

  addUnrouted(): void {
    this.#unrouted += 1;
  }

  /** Since the session began. */
  of(session: SessionRef): DropCounts {
    return this.#find(session)?.counts ?? NOTHING;
  }

  add(session: SessionRef, why: DropReason, count: number): void {
    const drops = this.#find(session) ?? this.#begin(session);
    for (const counts of [this.#total, drops.counts, drops.untold]) counts[why] = (counts[why] ?? 0) + count;
    this.#untold.add(session.key);
  }

  isDue(session: SessionRef, isUrgent: boolean): boolean {
    if (this.#untold.size === 0 || !this.#untold.has(session.key)) return false;
    const drops = this.#find(session);
    if (drops === undefined) return false;
    const nowMs = this.#clock.now();
    if (!isUrgent && nowMs - drops.askedAtMs < NOTICE_INTERVAL_MS) return false;
    drops.askedAtMs = nowMs;
    return true;
  }

  take(session: SessionRef): DropNotice {
    this.#untold.delete(session.key);
    const drops = this.#find(session);
    if (drops === undefined) return { since: NOTHING, total: 0 };
    const since = drops.untold;
    drops.untold = {};
    return { since, total: sumOf(drops.counts) };
  }

  #find({ key, incarnation }: SessionRef): SessionDrops | undefined {
    const drops = this.#sessions.get(key);
    return drops?.incarnation === incarnation ? drops : undefined;
  }

  /** Forgets the earlier session of the client under the same identifier. */
  #begin({ key, incarnation }: SessionRef): SessionDrops {
    const drops: SessionDrops = { incarnation, counts: {}, untold: {}, askedAtMs: Number.NEGATIVE_INFINITY };
    const [first] = this.#sessions.keys();
    if (this.#sessions.size >= SESSIONS_MAX && first !== undefined) {
      this.#sessions.delete(first);
      this.#untold.delete(first);
    }
    this.#sessions.set(key, drops);
    return drops;
  }
}

export function sumOf(counts: DropCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

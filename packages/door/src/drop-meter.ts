import {
  type Clock,
  type DropCounts,
  type DropNotice,
  type DropReason,
  type Drops,
  type SessionRef,
  steadyNow,
} from '@apus/broker';

/** A client that goes on missing messages is told of it once in this many milliseconds. */
const NOTICE_INTERVAL_MS = 1000;

/**
 * Sessions whose drops are remembered, some 200 bytes each. Beyond it the session with the oldest drop is forgotten.
 */
const SESSIONS_MAX = 100_000;

type Counts = Partial<Record<DropReason, number>>;

/** Sessions whose growth one look tells: the others are told by the next. */
const GROWN_MAX = 1_000;

interface SessionDrops {
  readonly incarnation: string;
  readonly counts: Counts;
  sum: number;
  /** At the last look. */
  lookedAt: { readonly sum: number; readonly counts: DropCounts };
  /** Of the look that saw them grow last. */
  grewAtMs: number | undefined;
  /** Drops that the client has not been told. */
  untold: Counts;
  askedAtMs: number;
}

const NOTHING: DropCounts = {};

/** What a meter remembers of a session, for another meter. */
export interface SavedDrops {
  readonly counts: DropCounts;
  readonly sum: number;
  readonly untold: DropCounts;
}

export interface SessionMisses {
  readonly tenant: string;
  readonly clientId: string;
  readonly counts: DropCounts;
}

/** Messages that both doors have dropped since the process started: in all, and for each session. */
export class DropMeter implements Drops {
  readonly #clock: Clock;
  readonly #total: Counts = {};
  #unrouted = 0;
  #filtered = 0;
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

  /** Sessions whose drops it remembers. */
  get size(): number {
    return this.#sessions.size;
  }

  /** Messages that had no subscriber. */
  get unrouted(): number {
    return this.#unrouted;
  }

  addUnrouted(): void {
    this.#unrouted += 1;
  }

  /** Messages that did not fit the condition of a subscription: no client has missed them. */
  get filtered(): number {
    return this.#filtered;
  }

  addFiltered(): void {
    this.#filtered += 1;
  }

  /** Since the session began. */
  of(session: SessionRef): DropCounts {
    return this.#find(session)?.counts ?? NOTHING;
  }

  add(session: SessionRef, why: DropReason, count: number): void {
    const drops = this.#find(session) ?? this.#begin(session);
    for (const counts of [this.#total, drops.counts, drops.untold]) counts[why] = (counts[why] ?? 0) + count;
    drops.sum += count;
    this.#untold.add(session.key);
  }

  isDue(session: SessionRef, isUrgent: boolean): boolean {
    if (this.#untold.size === 0 || !this.#untold.has(session.key)) return false;
    const drops = this.#find(session);
    if (drops === undefined) return false;
    const nowMs = steadyNow(this.#clock);
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
    return { since, total: drops.sum };
  }

  /** @param key of a session. Undefined: it has missed nothing */
  saved(key: string): SavedDrops | undefined {
    const drops = this.#sessions.get(key);
    return drops && { counts: drops.counts, sum: drops.sum, untold: drops.untold };
  }

  restore(session: SessionRef, { counts, sum, untold }: SavedDrops): void {
    const drops = this.#begin(session);
    Object.assign(drops.counts, counts);
    Object.assign(drops.untold, untold);
    drops.sum = sum;
    drops.lookedAt = { sum, counts: { ...counts } };
    if (Object.keys(untold).length > 0) this.#untold.add(session.key);
  }

  /** Sessions that have ended count in the total alone [SEC-GROWTH-5]. */
  forget(session: SessionRef): void {
    if (this.#find(session) === undefined) return;
    this.#sessions.delete(session.key);
    this.#untold.delete(session.key);
  }

  /** What sessions have missed since the last look. */
  takeGrowth(): readonly SessionMisses[] {
    const grown: SessionMisses[] = [];
    for (const [key, drops] of this.#sessions) {
      const { sum, counts: now, lookedAt } = drops;
      if (sum === lookedAt.sum) continue;
      const counts = Object.entries(now).map(([why, count]) => [
        why,
        count - (lookedAt.counts[why as DropReason] ?? 0),
      ]);
      drops.lookedAt = { sum, counts: { ...now } };
      drops.grewAtMs = this.#clock.now();
      grown.push({ ...namesIn(key), counts: Object.fromEntries(counts.filter(([, count]) => count !== 0)) });
      if (grown.length === GROWN_MAX) break;
    }
    return grown;
  }

  /** The sessions of a tenant that have missed most. */
  most(
    tenant: string,
    limit: number,
  ): readonly (SessionMisses & { readonly grewAtMs: number | undefined })[] {
    return [...this.#sessions]
      .filter(([key]) => key.startsWith(`${tenant}\0`))
      .sort(([, one], [, other]) => other.sum - one.sum)
      .slice(0, limit)
      .map(([key, { counts, grewAtMs }]) => ({ ...namesIn(key), counts, grewAtMs }));
  }

  #find({ key, incarnation }: SessionRef): SessionDrops | undefined {
    const drops = this.#sessions.get(key);
    return drops?.incarnation === incarnation ? drops : undefined;
  }

  /** Forgets the earlier session of the client under the same identifier. */
  #begin({ key, incarnation }: SessionRef): SessionDrops {
    const drops: SessionDrops = {
      ...{ incarnation, counts: {}, sum: 0, untold: {}, askedAtMs: Number.NEGATIVE_INFINITY },
      ...{ lookedAt: { sum: 0, counts: NOTHING }, grewAtMs: undefined },
    };
    const [first] = this.#sessions.keys();
    if (this.#sessions.size >= SESSIONS_MAX && first !== undefined) {
      this.#sessions.delete(first);
      this.#untold.delete(first);
    }
    this.#sessions.set(key, drops);
    return drops;
  }
}

/** The tenant and the client of `sessionKey`. */
function namesIn(key: string): Pick<SessionMisses, 'tenant' | 'clientId'> {
  const end = key.indexOf('\0');
  return { tenant: key.slice(0, end), clientId: key.slice(end + 1) };
}

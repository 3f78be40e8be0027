import { PROGRESS_SECONDS, WORKER_LIFE_MS_MAX } from '../limits.ts';
import { progressKey, type ShardName } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type Item, number, numberOf, text, textOf, VERSION } from '../table/values.ts';

/** A slice of a shard that a worker has said it will serve. */
export interface Claim {
  /** Exclusive; undefined: from the beginning of the shard. */
  readonly after: string | undefined;
  /** Inclusive. */
  readonly end: string;
  /** No subscriber stands after it. */
  readonly isLast: boolean;
}

/** Jobs that have come equally far. */
export interface Cohort {
  /** Names of jobs. All cohorts together have at most 10, as a batch of SQS. */
  readonly jobs: readonly string[];
  /** Everything before it has been posted, and perhaps some of it. */
  readonly claim: Claim;
  /** How often workers have taken up this claim again. */
  readonly attempts: number;
  /** The last claim has been served as well. */
  readonly isDone: boolean;
}

/** How far the jobs of one shard have come. */
export interface FanOutState {
  /** The worker that serves them; unique for each batch. */
  readonly owner: string;
  /** Counts the writes of the state. */
  readonly claims: number;
  /** The sequence number of the last job that has begun: later jobs have higher ones. Empty: not known. */
  readonly sequence: string;
  readonly cohorts: readonly Cohort[];
}

/** The outcome of the attempt to begin a batch. */
export type Begun =
  | { readonly outcome: 'begun' }
  /** Some of its jobs are known: an earlier worker did not finish them, or did not note that it had. */
  | { readonly outcome: 'interrupted'; readonly state: FanOutState }
  /** A later batch has begun: the caller is too late, and must not post anything. */
  | { readonly outcome: 'stale' };

/**
 * How far the workers of each shard have come: one item for each shard, in its own partition, written once for each
 * slice before anything of it is posted.
 *
 *     worker A                           worker B
 *     reads slice 1, claims it
 *     posts to half of it … dies, or is only slow
 *                                        the jobs are visible again: B reads slice 1
 *                                        begin: the jobs are known: A's claim
 *                                        takes it over (owner B): repeats slice 1, QoS 0 left out
 *                                        reads slice 2, claims it
 *     (were A only slow …) claims
 *     slice 2: the owner is B: stops
 *
 * A claim is written before its slice is posted, and nothing is written after it: a slice may be served once and in
 * part again, and its QoS 0 messages never twice. Nothing is written at the end of the last slice, since the queue
 * then deletes the jobs; if that fails, the last slice alone is repeated.
 *
 *     worker A                           workers B and C
 *     reads slice 1
 *     (is frozen; its jobs are visible again)
 *                                        B serves the jobs to the end; they leave the queue
 *                                        C begins the next batch
 *     begin: a later batch stands there: stale
 */
export class FanOutProgress {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Writes the first claim of a batch whose jobs are all unknown. */
  async begin(shard: ShardName, state: FanOutState): Promise<Begun> {
    const jobs = jobsOf(state);
    const isFirst = 'attribute_not_exists(p)';
    const hasExpired = 't <= :nowSeconds';
    const isUnknown = jobs.map((_, index) => `NOT contains(j, :job${index})`).join(' AND ');
    const isLater = '(q < :sequence OR u < :longAgo)';
    const nowMs = this.#table.settings.clock.now();
    const { ok, old } = await this.#table.put(this.#itemOf(shard, state), {
      condition: `${isFirst} OR ${hasExpired} OR (${isUnknown}${state.sequence === '' ? '' : ` AND ${isLater}`})`,
      values: {
        ':nowSeconds': number(this.#table.nowSeconds()),
        ...Object.fromEntries(jobs.map((job, index) => [`:job${index}`, text(job)])),
        ...(state.sequence !== '' && {
          ':sequence': text(state.sequence),
          ':longAgo': number(nowMs - WORKER_LIFE_MS_MAX),
        }),
      },
    });
    if (ok || isOwnRetry(old, state)) return { outcome: 'begun' };
    const stands = stateOf(old);
    const isInterrupted = jobsOf(stands).some((job) => jobs.includes(job)) || stands.cohorts.length === 0;
    return isInterrupted ? { outcome: 'interrupted', state: stands } : { outcome: 'stale' };
  }

  /** Replaces the state that was read or written last. False when another worker has replaced it. */
  async advance(shard: ShardName, from: FanOutState, to: FanOutState): Promise<boolean> {
    const isUnchanged = 'o = :owner AND n = :claims';
    const { ok, old } = await this.#table.put(this.#itemOf(shard, to), {
      condition: isUnchanged,
      values: { ':owner': text(from.owner), ':claims': number(from.claims) },
    });
    return ok || isOwnRetry(old, to);
  }

  #itemOf(shard: ShardName, state: FanOutState): Item {
    const { p, s } = progressKey(shard);
    return {
      p: text(p),
      s: text(s),
      v: number(VERSION),
      j: { SS: jobsOf(state) },
      d: text(JSON.stringify(state.cohorts.map(packed))),
      o: text(state.owner),
      n: number(state.claims),
      q: text(state.sequence),
      u: number(this.#table.settings.clock.now()),
      t: number(this.#table.nowSeconds() + PROGRESS_SECONDS),
    };
  }
}

function jobsOf({ cohorts }: FanOutState): string[] {
  return cohorts.flatMap(({ jobs }) => jobs);
}

/** An earlier attempt has written it, and its answer was lost. */
function isOwnRetry(old: Item | undefined, { owner, claims }: FanOutState): boolean {
  return textOf(old, 'o') === owner && numberOf(old, 'n') === claims;
}

type Packed = [jobs: string[], after: string, end: string, flags: number, attempts: number];

const IS_LAST = 1;
const IS_DONE = 2;

function packed({ jobs, claim, attempts, isDone }: Cohort): Packed {
  const flags = (claim.isLast ? IS_LAST : 0) + (isDone ? IS_DONE : 0);
  return [[...jobs], claim.after ?? '', claim.end, flags, attempts];
}

function unpacked([jobs, after, end, flags, attempts]: Packed): Cohort {
  const claim = { after: after === '' ? undefined : after, end, isLast: (flags & IS_LAST) !== 0 };
  return { jobs, claim, attempts, isDone: (flags & IS_DONE) !== 0 };
}

/**
 * For an item in an unknown layout, reads only the fields that are needed to replace it: its jobs count as not begun.
 */
function stateOf(item: Item | undefined): FanOutState {
  const cohorts = (JSON.parse(textOf(item, 'd') ?? '[]') as Packed[]).map(unpacked);
  return {
    owner: textOf(item, 'o') ?? '',
    claims: numberOf(item, 'n') ?? 0,
    sequence: textOf(item, 'q') ?? '',
    cohorts,
  };
}

import { type Log, type MatchedFilter, reasonOf, Unavailable } from '@apus/broker';
import type { Claim, FanOutProgress, ShardName, SubscriberSlice } from '@apus/store-dynamodb';
import type { OnUnfinished } from '../connections/lost-connections.ts';
import type { Task, TaskGroup } from './batch.ts';
import { type ClaimOutcome, Ledger, type Run } from './ledger.ts';
import type { FanOutCounts } from './metrics.ts';
import { type ShardReader, SliceReader } from './slice-reader.ts';
import type { FanOutWorkerLimits } from './worker-limits.ts';

/** Sends what serving a slice has gathered. */
export interface SlicePosts {
  /** How many subscribers may be served at once, so that their posts fit into the time of a slice. */
  subscribersMax(tasks: readonly Task[]): number;
  /**
   * Delivers the messages of the tasks to these subscribers: everything for one connection together. Calls
   * `onUnfinished` if the time runs out before everything that must arrive has arrived, perhaps while later slices are
   * served. Rejects when a store is unavailable.
   */
  serve(
    tasks: readonly Task[],
    subscribers: MatchedFilter,
    isRepeat: boolean,
    onUnfinished: OnUnfinished,
  ): Promise<void>;
  /** Whether posts of the slice are still tried again, or a connection has to be closed for it. */
  isOpen(onUnfinished: OnUnfinished): boolean;
}

export interface GroupContext {
  readonly shards: ShardReader;
  readonly progress: Pick<FanOutProgress, 'begin' | 'advance'>;
  readonly posts: SlicePosts;
  readonly counts: FanOutCounts;
  readonly limits: FanOutWorkerLimits;
  readonly log: Log;
  readonly randomId: () => string;
  /** Called once for each run, before it begins: the jobs go through at least this many subscribers. */
  readonly foresee: (tasks: readonly Task[], subscribers: number) => void;
  /** Whether there is time for another slice. */
  readonly hasTime: () => boolean;
  /** Resolves when the jobs are in the dead-letter queue. */
  readonly giveUp: (tasks: readonly Task[], why: string) => Promise<void>;
}

/** How far a group came: the tasks after the first `done` come again. */
export interface GroupResult {
  readonly done: number;
  readonly left: 'nothing' | LeftBecause;
}

export type LeftBecause =
  /** The function ran out of time. */
  | 'no-time'
  /** The gateway did not take everything in time. */
  | 'refused'
  /** Another worker has taken the shard. */
  | 'lost'
  /** A store or a queue does not answer. */
  | 'unavailable'
  /** A defect, of the job or of this code. */
  | 'failed';

type RunOutcome = 'done' | 'interrupted' | LeftBecause;

interface ClaimedSlice {
  readonly tasks: readonly Task[];
  /** Where the slice begins; exclusive. */
  readonly after: string | undefined;
  /** The slice has to come again. */
  isUnfinished: boolean;
  readonly onUnfinished: OnUnfinished;
}

/**
 * Works off the jobs of one shard slice by slice, all messages of a run together. Each slice is claimed before it is
 * posted.
 *
 * The worker goes on to the next slice while it still tries some connections of this one, so a connection that does
 * not read delays no other. The next claim then begins where this slice does, because no other worker knows which
 * messages these connections miss:
 *
 *     worker A                           worker B
 *     claims slice 1, posts it;
 *     X refuses, and is tried again
 *     claims slices 1 and 2, posts 2
 *     … dies
 *                                        repeats slices 1 and 2: X is reached
 *
 * For the same reason jobs are not written down as done while one of their posts is open, and the next run begins
 * without waiting for it. An open post ends within seconds: the client takes it, or the connection is closed. If the
 * gateway does not answer, the batch comes again from there.
 */
export class GroupWork {
  readonly #context: GroupContext;
  readonly #shard: ShardName;
  readonly #tasks: readonly Task[];
  readonly #ledger: Ledger;
  readonly #claimed: ClaimedSlice[] = [];
  /** Runs that this worker has posted to their end, and not written down as done. */
  #served: (readonly Task[])[] = [];
  /** For each run whose claim was taken up and still stands, the attempts before. */
  readonly #attemptsBefore = new Map<readonly Task[], number>();

  constructor(context: GroupContext, { shard, tasks }: TaskGroup) {
    this.#context = context;
    this.#shard = shard;
    this.#tasks = tasks;
    this.#ledger = new Ledger(context.progress, shard, context.randomId());
  }

  async serve(): Promise<GroupResult> {
    let runs: readonly Run[] = [{ tasks: this.#tasks, known: undefined }];
    let done = 0;
    while (done < this.#tasks.length) {
      const [run, ...others] = runs;
      if (run === undefined) break;
      const outcome = await this.#try(run);
      if (outcome === 'interrupted') {
        runs = this.#ledger.plan(this.#tasks, this.#context.limits.attemptsTogetherMax);
        continue;
      }
      if (outcome !== 'done') return { done, left: outcome };
      this.#served.push(run.tasks);
      done += run.tasks.length;
      runs = others;
    }
    return { done, left: 'nothing' };
  }

  /**
   * When all posts have ended: returns the number of tasks that are done, if it is fewer than was reported, since a
   * slice that was passed while some connections were tried has not ended. The claims of its run begin there or
   * earlier. Never rejects.
   */
  async review(): Promise<number | undefined> {
    const unfinished = this.#claimed.filter(({ isUnfinished }) => isUnfinished);
    const [first] = unfinished;
    if (first === undefined) return undefined;
    for (const tasks of new Set(unfinished.map((slice) => slice.tasks))) await this.#uncount(tasks);
    return this.#tasks.findIndex((task) => first.tasks.includes(task));
  }

  /** A failed write costs the jobs an attempt at worst. */
  async #quietly(write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#context.log.warn('fan-out-progress-unavailable', { ...this.#shard, error: reasonOf(error) });
    }
  }

  /** Never rejects: a group that cannot be served now is left, and the other groups are served. */
  async #try(run: Run): Promise<RunOutcome> {
    try {
      return await this.#serveRun(run);
    } catch (error) {
      const { log } = this.#context;
      const isPassing = error instanceof Unavailable;
      const fields = { ...this.#shard, jobs: run.tasks.map(({ name }) => name), error: reasonOf(error) };
      if (isPassing) log.warn('fan-out-unavailable', fields);
      else log.error('fan-out-failed', fields);
      return isPassing ? 'unavailable' : 'failed';
    }
  }

  async #serveRun({ tasks, known }: Run): Promise<RunOutcome> {
    if (known === undefined) return await this.#serveFrom(tasks, undefined);
    if (known.isDone) return 'done';
    const attempts = known.attempts + 1;
    if (attempts > this.#context.limits.attemptsMax) {
      await this.#context.giveUp(tasks, `no progress in ${known.attempts} attempts`);
      return 'done';
    }
    const outcome = await this.#takeUp(tasks, known.claim, attempts);
    if (outcome !== 'done' || known.claim.isLast) return outcome;
    return await this.#serveFrom(tasks, known.claim.end);
  }

  /** An attempt that failed for want of time, or of a service, is not counted against its jobs. */
  async #takeUp(tasks: readonly Task[], claim: Claim, attempts: number): Promise<RunOutcome> {
    this.#attemptsBefore.set(tasks, attempts - 1);
    let outcome: RunOutcome = 'unavailable';
    try {
      outcome = await this.#repeat(tasks, claim, attempts);
    } catch (error) {
      if (!(error instanceof Unavailable)) {
        this.#attemptsBefore.delete(tasks);
        throw error;
      }
    }
    if (outcome === 'done' || outcome === 'lost' || outcome === 'interrupted') return outcome;
    await this.#uncount(tasks);
    return outcome;
  }

  async #uncount(tasks: readonly Task[]): Promise<void> {
    const attempts = this.#attemptsBefore.get(tasks);
    const claim = this.#ledger.claimOf(tasks);
    if (attempts === undefined || claim === undefined) return;
    this.#attemptsBefore.delete(tasks);
    await this.#quietly(() => this.#ledger.claim(tasks, claim, attempts));
  }

  /**
   * Repeats the slice that an earlier worker has claimed. That worker may have reached its connections, so QoS 0 is
   * not sent again. If the slice is larger than the present pace allows, its beginning is repeated first.
   */
  async #repeat(
    tasks: readonly Task[],
    { after, end, isLast }: Claim,
    attempts: number,
  ): Promise<RunOutcome> {
    const { shards, posts, counts, log } = this.#context;
    let from = after;
    for (;;) {
      if (!this.#context.hasTime()) return 'no-time';
      const low = this.#lowWater(tasks, from);
      // The attempt is the same while the claim begins where it did: otherwise a job that kills its worker would never
      // count one.
      const outcome = await this.#claim(tasks, { after: from, end, isLast }, low === after ? attempts : 0);
      if (outcome !== 'claimed') return outcome;
      counts.repeatedSlices += 1;
      // Its subscribers are sent no QoS 0 again.
      log.warn('fan-out-slice-repeated', { ...this.#shard, attempts });
      const range = { after: from, to: end, limit: posts.subscribersMax(tasks) };
      const slice = await shards.readShard(this.#shard, range);
      if (!(await this.#post(tasks, slice, true))) return 'refused';
      if (slice.next === undefined || slice.next === end) return 'done';
      from = slice.next;
    }
  }

  async #serveFrom(tasks: readonly Task[], from: string | undefined): Promise<RunOutcome> {
    const { shards, posts, counts } = this.#context;
    const reader = new SliceReader(shards, this.#shard, from);
    let after = from;
    for (;;) {
      if (!this.#context.hasTime()) return 'no-time';
      const slice = await reader.next(posts.subscribersMax(tasks));
      if (slice.end !== undefined && slice.subscribers.length > 0) {
        const claim = { after, end: slice.end, isLast: slice.next === undefined };
        const outcome = await this.#claim(tasks, claim, 0);
        if (outcome !== 'claimed') return outcome;
        counts.slices += 1;
        if (after === from) this.#context.foresee(tasks, slice.subscribers.length + reader.ahead);
        if (!(await this.#post(tasks, slice, false))) return 'refused';
      }
      if (slice.next === undefined) return 'done';
      after = slice.next;
    }
  }

  /** Claims a slice, together with the open slices before it. */
  async #claim(tasks: readonly Task[], slice: Claim, attempts: number): Promise<ClaimOutcome['outcome']> {
    this.#finishServed();
    const claim = { ...slice, after: this.#lowWater(tasks, slice.after) };
    const { outcome } = await this.#ledger.claim(tasks, claim, attempts);
    if (outcome !== 'claimed') return outcome;
    if (attempts === 0) this.#attemptsBefore.delete(tasks);
    const claimed = {
      tasks,
      after: slice.after,
      isUnfinished: false,
      onUnfinished: () => {
        claimed.isUnfinished = true;
      },
    };
    this.#claimed.push(claimed);
    return outcome;
  }

  /** Writes down as done the runs without open posts. */
  #finishServed(): void {
    const open = this.#served.filter((tasks) => this.#openOf(tasks) !== undefined);
    for (const tasks of this.#served) if (!open.includes(tasks)) this.#ledger.finish(tasks);
    this.#served = open;
  }

  /** Where the first open slice of this run begins; or where the next one does, if none is open. */
  #lowWater(tasks: readonly Task[], next: string | undefined): string | undefined {
    const first = this.#openOf(tasks);
    return first === undefined ? next : first.after;
  }

  #openOf(tasks: readonly Task[]): ClaimedSlice | undefined {
    const { posts } = this.#context;
    return this.#claimed.find(
      (slice) => slice.tasks === tasks && (slice.isUnfinished || posts.isOpen(slice.onUnfinished)),
    );
  }

  /** False: something of it is left, and there is no time. */
  async #post(tasks: readonly Task[], { subscribers }: SubscriberSlice, isRepeat: boolean): Promise<boolean> {
    const matched = { topicFilter: this.#shard.topicFilter, subscribers };
    const slice = this.#claimed.at(-1);
    await this.#context.posts.serve(tasks, matched, isRepeat, slice?.onUnfinished ?? (() => {}));
    return slice?.isUnfinished !== true;
  }
}

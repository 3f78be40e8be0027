import { type Broker, type Log, Unavailable } from '@apus/broker';
import type { Claim, FanOutProgress, ShardName, SubscriberSlice } from '@apus/store-dynamodb';
import type { Task, TaskGroup } from './fan-out-batch.ts';
import { Ledger, type Run } from './fan-out-ledger.ts';
import type { FanOutCounts } from './fan-out-metrics.ts';
import type { FanOutWorkerLimits } from './fan-out-worker-limits.ts';
import { type ShardReader, SliceReader } from './slice-reader.ts';

/** Sends what serving a slice has gathered. */
export interface SlicePosts {
  /** Subscribers that may be served at once, so that their posts fit into the time of a slice. */
  subscribersMax(tasks: readonly Task[]): number;
  /**
   * What is sent from now on is of another slice. `onUnfinished` is called when the time runs out with something left
   * of it that has to arrive, perhaps while later slices are served.
   */
  begin(onUnfinished: () => void): void;
  /** Never rejects. */
  flush(): Promise<void>;
}

export interface GroupContext {
  readonly broker: Pick<Broker, 'serve'>;
  readonly shards: ShardReader;
  readonly progress: Pick<FanOutProgress, 'begin' | 'advance'>;
  readonly posts: SlicePosts;
  readonly counts: FanOutCounts;
  readonly limits: FanOutWorkerLimits;
  readonly log: Log;
  readonly randomId: () => string;
  /** For another slice. */
  readonly hasTime: () => boolean;
  /** Resolves when the jobs are where an operator finds them. */
  readonly giveUp: (tasks: readonly Task[], why: string) => Promise<void>;
}

/** What came of a group: the tasks after `done` of them come again. */
export interface GroupResult {
  readonly done: number;
  readonly left: 'nothing' | LeftBecause;
}

export type LeftBecause =
  /** Of the function. */
  | 'no-time'
  /** The gateway did not take everything in that time. */
  | 'refused'
  /** Another worker has the shard. */
  | 'lost'
  /** A store or a queue does not answer. */
  | 'unavailable'
  /** A defect: of the job, or of ours. */
  | 'failed';

type RunOutcome = 'done' | 'interrupted' | LeftBecause;

interface ClaimedSlice {
  readonly tasks: readonly Task[];
  readonly claim: Claim;
  isUnfinished: boolean;
}

/** Serves the jobs of one shard: slice by slice, all messages of a run together, each slice claimed before it is posted. */
export class GroupWork {
  readonly #context: GroupContext;
  readonly #shard: ShardName;
  readonly #tasks: readonly Task[];
  readonly #ledger: Ledger;
  readonly #claimed: ClaimedSlice[] = [];

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
      this.#ledger.finish(run.tasks);
      done += run.tasks.length;
      runs = others;
    }
    return { done, left: 'nothing' };
  }

  /**
   * When all posts have come to their end: goes back to the first slice that has not, which was passed while some of its
   * connections were tried again. What has been claimed since is a repeat too. Answers the number of tasks that are done
   * with, if it is fewer than was thought. Never rejects.
   */
  async review(): Promise<number | undefined> {
    const first = this.#claimed.find(({ isUnfinished }) => isUnfinished);
    if (first === undefined) return undefined;
    const { tasks, claim } = first;
    const last = this.#claimed.findLast((slice) => slice.tasks === tasks)?.claim ?? claim;
    if (last !== claim) {
      await this.#quietly(() => this.#ledger.claim(tasks, { ...last, after: claim.after }, 0));
    }
    return this.#tasks.findIndex((task) => tasks.includes(task));
  }

  /** What fails here has been counted as an attempt of its jobs, at worst. */
  async #quietly(write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#context.log.warn('fan-out-progress-unavailable', { ...this.#shard, reason: String(error) });
    }
  }

  /** Never rejects: what cannot be done now is left, and the groups beside it are served. */
  async #try(run: Run): Promise<RunOutcome> {
    try {
      return await this.#serveRun(run);
    } catch (error) {
      const { log } = this.#context;
      const isPassing = error instanceof Unavailable;
      const fields = { ...this.#shard, jobs: run.tasks.map(({ name }) => name), reason: String(error) };
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

  /** An attempt that fails for want of time, or of a service, says nothing against its jobs and is not counted. */
  async #takeUp(tasks: readonly Task[], claim: Claim, attempts: number): Promise<RunOutcome> {
    let outcome: RunOutcome = 'unavailable';
    try {
      outcome = await this.#repeat(tasks, claim, attempts);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
    }
    if (outcome === 'done' || outcome === 'lost' || outcome === 'interrupted') return outcome;
    await this.#quietly(() => this.#ledger.claim(tasks, claim, attempts - 1));
    return outcome;
  }

  /**
   * The claimed slice of an earlier worker: whoever of it may have been reached is not sent QoS 0 again. It may be more
   * than the pace of now lets through; what has been repeated is then taken off its beginning.
   */
  async #repeat(
    tasks: readonly Task[],
    { after, end, isLast }: Claim,
    attempts: number,
  ): Promise<RunOutcome> {
    const { shards, posts, counts } = this.#context;
    let from = after;
    for (let isFirst = true; ; isFirst = false) {
      if (!this.#context.hasTime()) return 'no-time';
      const claim = { after: from, end, isLast };
      const { outcome } = await this.#ledger.claim(tasks, claim, isFirst ? attempts : 0);
      if (outcome !== 'claimed') return outcome;
      counts.repeatedSlices += 1;
      this.#claimed.push({ tasks, claim, isUnfinished: false });
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
        const { outcome } = await this.#ledger.claim(tasks, claim, 0);
        if (outcome !== 'claimed') return outcome;
        counts.slices += 1;
        this.#claimed.push({ tasks, claim, isUnfinished: false });
        if (!(await this.#post(tasks, slice, false))) return 'refused';
      }
      if (slice.next === undefined) return 'done';
      after = slice.next;
    }
  }

  /** Everything for one connection is gathered before anything is posted: it leaves together. */
  async #post(tasks: readonly Task[], { subscribers }: SubscriberSlice, isRepeat: boolean): Promise<boolean> {
    const { broker, posts } = this.#context;
    const matched = { topicFilter: this.#shard.topicFilter, subscribers };
    const slice = this.#claimed.at(-1);
    posts.begin(() => {
      if (slice !== undefined) slice.isUnfinished = true;
    });
    try {
      for (const { job } of tasks) {
        for (const message of job.messages) await broker.serve(message, matched, isRepeat);
      }
    } finally {
      // Also what was gathered before a failure: a repeat would leave out its QoS 0 messages.
      await posts.flush();
    }
    return slice?.isUnfinished !== true;
  }
}

import { type MatchedFilter, reasonOf, steadyNow } from '@apus/broker';
import { redirectionOf } from '../connections/lose.ts';
import { LostConnections, type OnUnfinished } from '../connections/lost-connections.ts';
import type { InvocationContext } from '../events/gateway.ts';
import type { SqsBatchResponse, SqsRecord } from '../events/sqs.ts';
import { PACKED_BYTES_MAX } from '../frames/text-frame.ts';
import { Outbox } from '../outbox.ts';
import { POST_TIMEOUT_MS } from '../posts/signed-poster.ts';
import { batchOf, bytesOf, type Task, type TaskGroup } from './batch.ts';
import { type GroupContext, GroupWork, type LeftBecause } from './group.ts';
import { jobIdOf } from './job.ts';
import { type BehindMarks, lagMsOf } from './lag.ts';
import { type FanOutCounts, noCounts } from './metrics.ts';
import { FanOutPosts, type GatewayState } from './posts.ts';
import type { FanOutWorkerOptions } from './worker.ts';
import type { FanOutWorkerLimits } from './worker-limits.ts';

/** A failed job comes again after one to this many seconds: soon, and not in step with others. */
const AGAIN_SECONDS_MAX = 4;

/**
 * The worker posts nothing in this time before the function's end: a post without an answer takes so long, and then
 * its slice goes back.
 */
const POSTS_END_BEFORE_MS = POST_TIMEOUT_MS + 500;

/** The state that one worker keeps from batch to batch. */
export interface WorkerState {
  readonly limits: FanOutWorkerLimits;
  readonly gateway: GatewayState;
  readonly marks: BehindMarks;
}

/**
 * One invocation: works off the groups of a batch one after another; no group stops another. A message to a wide
 * filter is a job for each of its shards, and the queue packs ten jobs into a batch. If the first shard takes long,
 * the worker keeps it, and gives the others back before it posts anything:
 *
 *     worker A                           other workers
 *     receives shards 1 to 10
 *     claims a slice of 1, gives 2 to 10 back
 *     posts shard 1                      receive shards 2, 3 … 10
 *
 * In a steady stream a batch has ten jobs of one shard anyway: if no worker is free, jobs gather in the queue.
 */
export class BatchWork {
  readonly #options: FanOutWorkerOptions;
  readonly #state: WorkerState;
  readonly #context: InvocationContext;
  readonly #counts: FanOutCounts = noCounts();
  readonly #lost: LostConnections;
  readonly #posts: FanOutPosts;
  /** Milliseconds that a slice needs, with the end of its posts. */
  readonly #sliceNeedsMs: number;
  /** Records that come again, and after how many seconds. Undefined: when another worker lets go of them. */
  readonly #left = new Map<SqsRecord, number | undefined>();
  /** Groups that have not begun. */
  #waiting: TaskGroup[] = [];
  #handedOn: Promise<unknown> = Promise.resolve();

  constructor(options: FanOutWorkerOptions, state: WorkerState, context: InvocationContext) {
    this.#options = options;
    this.#state = state;
    this.#context = context;
    const remainingMs = context.getRemainingTimeInMillis();
    const { reserveMs, sliceMsMax } = state.limits;
    // A function with less time than this still serves slices.
    const reservedMs = Math.min(reserveMs, remainingMs / 4);
    const postsEndBeforeMs = Math.max(reservedMs / 2, Math.min(POSTS_END_BEFORE_MS, remainingMs / 8));
    this.#sliceNeedsMs = Math.max(reservedMs, postsEndBeforeMs) + Math.min(sliceMsMax, remainingMs / 4);
    this.#lost = new LostConnections(
      options.environment,
      () => context.getRemainingTimeInMillis() > reservedMs / 4,
    );
    const { links, usage } = options.environment;
    this.#posts = new FanOutPosts(
      {
        ...options,
        usage,
        redirectionOf: async (connectionId) => redirectionOf(await links.load(connectionId)),
      },
      state.gateway,
      this.#counts,
      steadyNow(options.clock) + remainingMs - postsEndBeforeMs,
      this.#lost,
    );
  }

  async serve(records: readonly SqsRecord[]): Promise<SqsBatchResponse> {
    const { clock } = this.#options;
    const startMs = steadyNow(clock);
    const { groups, undecodable, newer } = batchOf(records);
    this.#leaveToNewer(newer);
    for (const record of undecodable) await this.#bury(record);
    const works: [TaskGroup, GroupWork][] = [];
    this.#waiting = [...groups];
    for (let group = this.#waiting.shift(); group !== undefined; group = this.#waiting.shift())
      works.push([group, await this.#serveGroup(group)]);
    // The next worker may find the same connections: nothing is under way when the records are given back.
    await this.#posts.finishAll();
    this.#counts.latencyMsMax = this.#counts.lagMsMax + steadyNow(clock) - startMs;
    for (const [group, work] of works) await this.#review(group, work);
    await this.#lost.done();
    await this.#handedOn;
    await this.#giveBack();
    this.#counts.handedBack = this.#left.size;
    this.#options.metrics?.record(this.#counts);
    return {
      batchItemFailures: [...this.#left.keys()].map(({ messageId }) => ({ itemIdentifier: messageId })),
    };
  }

  async #serveSlice(
    tasks: readonly Task[],
    subscribers: MatchedFilter,
    isRepeat: boolean,
    onUnfinished: OnUnfinished,
  ): Promise<void> {
    const [tenant = ''] = tasks.map(({ job }) => job.tenant);
    const outbox = new Outbox(this.#options.environment, {}, this.#posts.sender(onUnfinished, tenant));
    outbox.usage?.isOf(tenant);
    for (const { job } of tasks)
      for (const message of job.messages) await outbox.broker.serve(message, subscribers, isRepeat);
    await outbox.commit();
    outbox.usage?.handOver();
  }

  async #serveGroup(group: TaskGroup): Promise<GroupWork> {
    await this.#lookAtLag(group);
    const work = this.#workFor(group);
    const { done, left } = await work.serve();
    if (left !== 'nothing') this.#leave(group, done, left);
    return work;
  }

  async #review(group: TaskGroup, work: GroupWork): Promise<void> {
    const done = await work.review();
    if (done !== undefined) this.#leave(group, done, 'refused');
  }

  /** Gives other workers the jobs that would wait behind jobs that take long. */
  #foresee(tasks: readonly Task[], subscribers: number): void {
    const { limits, gateway } = this.#state;
    const ms = (subscribers * framesEach(tasks) * 1_000) / gateway.pace.postsPerSecond;
    if (ms > limits.handOnMs) this.#handOn();
  }

  /** Gives back each shard by a call of its own: SQS then hands them out one by one, to as many pollers as wait. */
  #handOn(): void {
    const { visibility, log } = this.#options;
    if (visibility === undefined || this.#waiting.length === 0) return;
    const groups = this.#waiting.splice(0);
    log.info('fan-out-handed-on', { shards: groups.length });
    const calls = groups.map(({ tasks }) => {
      const records = tasks.flatMap((task) => task.records);
      // They are named as failed at the end: else the queue would be told to delete them.
      for (const record of records) this.#left.set(record, undefined);
      return visibility.giveBack(records, 0);
    });
    this.#handedOn = Promise.all([this.#handedOn, ...calls]);
  }

  #leave({ shard, tasks }: TaskGroup, done: number, why: LeftBecause): void {
    this.#options.log.info('fan-out-handed-back', { ...shard, why, done, of: tasks.length });
    const afterSeconds = this.#secondsUntil(why);
    for (const { records } of tasks.slice(done)) {
      for (const record of records) if (!this.#left.has(record)) this.#left.set(record, afterSeconds);
    }
  }

  /** They come again when their visibility timeout ends, perhaps to a worker of the version that knows them. */
  #leaveToNewer(records: readonly SqsRecord[]): void {
    if (records.length === 0) return;
    this.#options.log.warn('fan-out-newer', { count: records.length });
    for (const record of records) this.#left.set(record, undefined);
  }

  /** A batch that ran out of time comes again at once; after a refusal or no answer it waits for a moment. */
  #secondsUntil(why: LeftBecause): number | undefined {
    if (why === 'lost') return undefined;
    return why === 'no-time' ? 0 : 1 + Math.floor(this.#options.random() * AGAIN_SECONDS_MAX);
  }

  async #giveBack(): Promise<void> {
    const byTime = new Map<number, SqsRecord[]>();
    for (const [record, seconds] of this.#left) {
      if (seconds === undefined) continue;
      byTime.set(seconds, [...(byTime.get(seconds) ?? []), record]);
    }
    for (const [seconds, records] of byTime) await this.#options.visibility?.giveBack(records, seconds);
  }

  async #lookAtLag(group: TaskGroup): Promise<void> {
    const oldest = group.tasks[0]?.records[0];
    if (oldest === undefined) return;
    const lagMs = lagMsOf(oldest, this.#options.clock.now());
    this.#counts.lagMsMax = Math.max(this.#counts.lagMsMax, lagMs);
    if (lagMs > this.#state.limits.lagSecondsMax * 1_000) await this.#state.marks.mark(group.shard, lagMs);
  }

  #workFor(group: TaskGroup): GroupWork {
    const { subscriptions, progress, log, randomId } = this.#options;
    const context: GroupContext = {
      shards: subscriptions,
      progress,
      posts: {
        subscribersMax: (each) => this.#subscribersMax(each),
        serve: (...call) => this.#serveSlice(...call),
        isOpen: (onUnfinished) => this.#posts.isOpen(onUnfinished),
      },
      counts: this.#counts,
      limits: this.#state.limits,
      log,
      randomId,
      foresee: (tasks, subscribers) => this.#foresee(tasks, subscribers),
      hasTime: () => this.#context.getRemainingTimeInMillis() >= this.#sliceNeedsMs,
      giveUp: (tasks, why) => this.#giveUp(tasks, why),
    };
    return new GroupWork(context, group);
  }

  #subscribersMax(tasks: readonly Task[]): number {
    const { limits, gateway } = this.#state;
    const posts = (gateway.pace.postsPerSecond * limits.sliceMsMax) / 1_000;
    return Math.max(1, Math.min(limits.sliceSubscribersMax, Math.floor(posts / framesEach(tasks))));
  }

  async #giveUp(tasks: readonly Task[], why: string): Promise<void> {
    for (const { job, records } of tasks) {
      for (const record of records) await this.#deadLetter(record, jobIdOf(job), why);
    }
  }

  /**
   * Buries a record that is no job, which must not block its group. If the dead-letter queue refuses it, it comes
   * again.
   */
  async #bury(record: SqsRecord): Promise<void> {
    try {
      await this.#deadLetter(record, record.messageId, 'it is no job');
    } catch (error) {
      this.#options.log.warn('fan-out-dead-letter-refused', { error: reasonOf(error) });
      this.#left.set(record, this.#secondsUntil('unavailable'));
    }
  }

  async #deadLetter({ messageId, body, attributes }: SqsRecord, id: string, why: string): Promise<void> {
    this.#options.log.error('fan-out-dead-letter', { messageId, why, bytes: body.length });
    const groupId = attributes.MessageGroupId ?? 'fan-out';
    await this.#options.deadLetters.send([{ body, fifo: { groupId, deduplicationId: id } }]);
    this.#counts.deadLetters += 1;
  }
}

/** Posts to one subscriber. */
function framesEach(tasks: readonly Task[]): number {
  return Math.ceil(bytesOf(tasks) / PACKED_BYTES_MAX);
}

import type { Model } from './model.ts';
import { deliver, PACKET_OVERHEAD_BYTES, pushBytes } from './publishing.ts';
import type { ServiceTimes } from './service-times.ts';
import { type Job, type ShardJobs, ShardQueue } from './shard-queue.ts';
import { TokenBucket } from './token-bucket.ts';

/** The sizes of a deployment. A test that compares with the emulator has smaller ones. */
export interface FanOutSizes {
  /** A shard takes this many subscribers before a filter doubles its shards (docs/data-model.md). */
  readonly shardSubscribers: number;
  /** A worker's pace (infra/lib/defaults.ts). */
  readonly postsPerWorkerSecond: number;
}

const DEFAULT_SIZES: FanOutSizes = { shardSubscribers: 1_000, postsPerWorkerSecond: 500 };
const SHARDS_MAX = 256;
const SLICE_RECIPIENTS = 500;
const READS_PER_SUBSCRIBER = 0.025;
/** SQS: entries of a request that sends, and requests that a frame sends at the same time (aws/src/fan-out/job-queue.ts). */
const SEND_ENTRIES_MAX = 10;
const PARALLEL_BATCHES_MAX = 8;
/** MQTT bytes that one post takes (docs/text-frames.md). */
const PACKED_BYTES_MAX = 24_558;
/** Tries of a batch that the queue refuses, and the first pause between them. */
const SEND_ATTEMPTS_MAX = 4;
const FIRST_PAUSE_MS = 25;
/** The number of workers, and the pace of the fastest (infra/lib/defaults.ts). */
const WORKERS_MIN = 2;
const WORKERS_MAX = 256;
const FASTEST = 2;
/** A worker's function may run for 30 s, of which 4 are kept for the last slice and the end. */
const WORKER_MS = 26_000;
/** A shard that takes longer lets the shards behind it in its batch go to other workers (aws/src/fan-out/worker-limits.ts). */
const HAND_ON_SECONDS = 1;
/** The delay before jobs come again for which no worker could run. */
const AGAIN_MS = { least: 1_000, most: 4_000 };

/** Throttling halves a worker's pace, and not again before the gateway can have noticed (aws/src/posts/pace.ts). */
const SLOW_DOWN_PAUSE_MS = 250;
/** The share of the pace that may leave at once after a pause. */
const PACE_BURST_MS = 100;
const RECOVERY_SHARE_PER_SECOND = 0.05;
const RATE_MIN = 10;

/** The jobs of one frame: one for each shard of a topic's filter. */
interface Jobs {
  readonly recipients: number;
  readonly publishedAtMs: readonly number[];
  readonly topic: number;
  readonly shards: number;
}

/**
 * The workers of wide filters: a job for each shard in an SQS FIFO queue, one worker at a time for each shard, up to
 * ten jobs a batch.
 */
export class FanOutWorkers {
  readonly #model: Model;
  readonly #sizes: FanOutSizes;
  readonly #queue: ShardQueue;
  readonly #workersMax: number;
  #busyWorkers = 0;
  #isAwake = false;
  /** Calls that touch one message group, for each topic. */
  readonly #groupCalls = new Map<number, TokenBucket>();
  readonly #postsPerWorker: number;

  constructor(model: Model, sizes = DEFAULT_SIZES) {
    this.#model = model;
    this.#sizes = sizes;
    this.#queue = new ShardQueue(model.workload.fanOutBatchSize);
    const budget = model.quotas.maxPostsPerSecond;
    const pace = sizes.postsPerWorkerSecond;
    const wanted = Math.min(WORKERS_MAX, Math.max(WORKERS_MIN, Math.ceil(budget / pace)));
    this.#workersMax = wanted;
    // Without a budget nothing limits a worker.
    this.#postsPerWorker = Number.isFinite(budget) ? Math.min(budget / wanted, FASTEST * pace) : pace;
  }

  /** Puts the jobs of one frame into the queue, then says whether it took them. */
  accept(recipients: number, publishedAtMs: readonly number[], then: (isDone: boolean) => void): void {
    const topic = Math.floor(this.#model.random.next() * this.#model.workload.topics);
    this.#send({ recipients, publishedAtMs, topic, shards: shardsOf(recipients, this.#sizes) }, 1, then);
  }

  #send(jobs: Jobs, attempt: number, then: (isDone: boolean) => void): void {
    const { loop, random, times } = this.#model;
    const requests = Math.ceil(jobs.shards / SEND_ENTRIES_MAX);
    const rounds = Math.ceil(requests / PARALLEL_BATCHES_MAX);
    let sendMs = 0;
    for (let round = 0; round < rounds; round += 1) sendMs += random.latency(times.sqsSend);
    if (this.#isTaken(jobs)) {
      this.#model.count((tally) => {
        tally.fifoJobs += jobs.shards;
        tally.fifoRequests += requests;
      });
      loop.after(sendMs, () => {
        this.#spread(jobs);
        then(true);
      });
      return;
    }
    this.#model.count((tally) => {
      tally.queueThrottled += 1;
    });
    if (attempt >= SEND_ATTEMPTS_MAX) then(false);
    else
      loop.after(sendMs + random.next() * FIRST_PAUSE_MS * 2 ** attempt, () =>
        this.#send(jobs, attempt + 1, then),
      );
  }

  /** All shards of a topic get the same messages: if SQS takes those of one group, it takes the others too. */
  #isTaken({ topic, shards }: Jobs): boolean {
    const { loop, account, quotas } = this.#model;
    let calls = this.#groupCalls.get(topic);
    if (calls === undefined) {
      const perSecond = quotas.fifoCallsPerGroupSecond;
      calls = new TokenBucket(perSecond, perSecond);
      this.#groupCalls.set(topic, calls);
    }
    return calls.take(loop.nowMs) && account.fifoMessages.take(loop.nowMs, shards);
  }

  #spread({ recipients, publishedAtMs, topic, shards }: Jobs): void {
    this.#model.backlog.workersOwe(recipients * publishedAtMs.length);
    for (let shard = 0; shard < shards; shard += 1) {
      const part = Math.floor(recipients / shards) + (shard < recipients % shards ? 1 : 0);
      this.#queue.put(`${topic} ${shard}`, { recipients: part, publishedAtMs });
    }
    this.#wake();
  }

  /** Jobs that become ready at the same time come in one batch, as far as it has room. */
  #wake(): void {
    if (this.#isAwake) return;
    this.#isAwake = true;
    this.#model.loop.after(0, () => {
      this.#isAwake = false;
      while (this.#queue.hasReady && this.#busyWorkers < this.#workersMax) {
        const batch = this.#queue.take();
        this.#busyWorkers += 1;
        this.#model.count((tally) => {
          // The batch is received, and later deleted.
          tally.fifoRequests += 2;
        });
        this.#model.loop.after(this.#model.random.latency(this.#model.times.fifoToFunction), () =>
          this.#invoke(batch),
        );
      }
    });
  }

  /** One invocation: serves the shards of a batch one after another, until all are finished or its time is over. */
  #invoke(received: readonly ShardJobs[]): void {
    const { loop, random, times, account } = this.#model;
    const batch = [...received];
    const start = account.workers.enter(loop.nowMs);
    if (start === 'throttled') {
      this.#model.count((tally) => {
        tally.framesWithoutFunction += 1;
      });
      const { least, most } = AGAIN_MS;
      this.#release(batch, least + random.next() * (most - least));
      return;
    }
    const startedAtMs = loop.nowMs;
    const coldMs = start === 'cold' ? random.latency(times.coldStart) : 0;
    const pace = { rate: this.#postsPerWorker, nextMs: 0, slowedAtMs: Number.NEGATIVE_INFINITY };
    const end = () => {
      account.workers.leave();
      this.#model.count((tally) => {
        tally.invocations += 1;
        tally.billedMs += Math.ceil(loop.nowMs - startedAtMs);
        // Unfinished jobs are made visible at once.
        if (batch.some(({ jobs }) => jobs.length > 0)) tally.fifoRequests += 1;
      });
      this.#release(batch, 0);
    };
    const slice = () => {
      const current = batch.find(({ jobs }) => jobs.length > 0);
      if (current === undefined || loop.nowMs - startedAtMs > WORKER_MS) end();
      else
        this.#slice(current.jobs, pace, slice, () => this.#handOn(batch.splice(batch.indexOf(current) + 1)));
    };
    loop.after(coldMs + this.#model.cpu(times.frameCpuMs), slice);
  }

  /** Gives back the shards behind a slow one, each with a call of its own: SQS delivers them again one by one. */
  #handOn(shards: readonly ShardJobs[]): void {
    const { loop, random, times } = this.#model;
    for (const each of shards) {
      this.#model.count((tally) => {
        tally.fifoRequests += 1;
      });
      loop.after(random.latency(times.sqsSend), () => {
        this.#queue.giveBack(each);
        this.#wake();
      });
    }
  }

  /** The worker is free; SQS delivers its shards again when the whole batch is finished. */
  #release(batch: readonly ShardJobs[], afterMs: number): void {
    this.#busyWorkers -= 1;
    this.#model.loop.after(afterMs, () => {
      for (const each of batch) this.#queue.giveBack(each);
      this.#wake();
    });
    this.#wake();
  }

  /**
   * Claims a slice of a shard, then posts to each of it, as fast as the pace allows. Jobs with equal progress are
   * served together: their messages for one connection leave in one post, as far as there is room.
   */
  #slice(jobs: Job[], pace: WorkerPace, then: () => void, isLong: () => void): void {
    const [first] = jobs;
    if (first === undefined) {
      then();
      return;
    }
    const end = jobs.findIndex((job) => job.recipients !== first.recipients);
    const run = end < 0 ? [...jobs] : jobs.slice(0, end);
    const recipients = Math.min(SLICE_RECIPIENTS, first.recipients);
    // Reads a page of the shard, and claims it.
    const use = { calls: 2, reads: recipients * READS_PER_SUBSCRIBER, writes: 1 };
    this.#model.useStore(use, (isClaimed) => {
      if (!isClaimed) {
        this.#model.loop.after(AGAIN_MS.least, then);
        return;
      }
      const posts = this.#packed(run.flatMap(({ publishedAtMs }) => publishedAtMs));
      if (first.recipients * posts.length > pace.rate * HAND_ON_SECONDS) isLong();
      for (const job of run) job.recipients -= recipients;
      if (first.recipients === 0) jobs.splice(0, run.length);
      let left = recipients * posts.length;
      const one = () => {
        left -= 1;
        if (left === 0) then();
      };
      for (let index = 0; index < recipients; index += 1) {
        for (const publishedAtMs of posts) this.#post(publishedAtMs, pace, one);
      }
    });
  }

  /** When the messages of each post to a connection were published. */
  #packed(publishedAtMs: readonly number[]): readonly (readonly number[])[] {
    const messagesMax = Math.max(1, Math.floor(PACKED_BYTES_MAX / this.#packetBytes));
    const posts: (readonly number[])[] = [];
    for (let from = 0; from < publishedAtMs.length; from += messagesMax) {
      posts.push(publishedAtMs.slice(from, from + messagesMax));
    }
    return posts;
  }

  get #packetBytes(): number {
    return this.#model.workload.payloadBytes + PACKET_OVERHEAD_BYTES;
  }

  #post(publishedAtMs: readonly number[], pace: WorkerPace, then: () => void): void {
    const { loop } = this.#model;
    const dueMs = Math.max(pace.nextMs, loop.nowMs - PACE_BURST_MS);
    pace.nextMs = dueMs + 1_000 / pace.rate;
    loop.after(dueMs - loop.nowMs, () => {
      this.#model.post(pushBytes(this.#packetBytes * publishedAtMs.length), (isSent) => {
        if (!isSent) {
          // Many refusals at once come from the account's throttle: the pace halves, and no connection is given up.
          this.#slowDown(pace);
          this.#post(publishedAtMs, pace, then);
          return;
        }
        this.#recover(pace);
        this.#model.backlog.workersOwe(-publishedAtMs.length);
        for (const atMs of publishedAtMs) deliver(this.#model, atMs, true);
        then();
      });
    });
  }

  #slowDown(pace: WorkerPace): void {
    const { nowMs } = this.#model.loop;
    if (nowMs - pace.slowedAtMs < SLOW_DOWN_PAUSE_MS) return;
    pace.slowedAtMs = nowMs;
    pace.rate = Math.max(Math.min(RATE_MIN, this.#postsPerWorker), pace.rate / 2);
  }

  #recover(pace: WorkerPace): void {
    const { nowMs } = this.#model.loop;
    if (pace.rate >= this.#postsPerWorker || nowMs - pace.slowedAtMs < 1_000) return;
    pace.slowedAtMs = nowMs;
    pace.rate = Math.min(this.#postsPerWorker, pace.rate + this.#postsPerWorker * RECOVERY_SHARE_PER_SECOND);
  }
}

interface WorkerPace {
  rate: number;
  nextMs: number;
  slowedAtMs: number;
}

/**
 * The seconds until the last of many workers has begun: a batch of shards comes to a worker, which gives them back, and
 * each comes to another worker. Both are cold.
 */
export function secondsUntilAllWork({ fifoToFunction, coldStart }: ServiceTimes): number {
  return (2 * (fifoToFunction.p50Ms + coldStart.p50Ms)) / 1_000;
}

/** Shards double until each takes at most a thousand. */
export function shardsOf(recipients: number, { shardSubscribers } = DEFAULT_SIZES): number {
  const doublings = Math.ceil(Math.log2(Math.max(1, recipients / shardSubscribers)));
  return Math.min(SHARDS_MAX, 2 ** doublings);
}

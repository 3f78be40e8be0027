import type { Model } from './model.ts';
import { deliver, pushBytes } from './publishing.ts';
import { TokenBucket } from './token-bucket.ts';

/** A shard takes so many subscribers before a filter doubles its shards, up to so many (docs/data-model.md). */
const SHARD_SUBSCRIBERS = 1_000;
const SHARDS_MAX = 256;
const SLICE_RECIPIENTS = 250;
const READS_PER_SUBSCRIBER = 0.025;
/** SQS: entries of a request, and of a batch that a worker is given; requests that a frame sends at the same time (cloud/src/job-queue.ts). */
const BATCH_ENTRIES_MAX = 10;
const PARALLEL_BATCHES_MAX = 8;
/** Tries of a batch that the queue refuses, and the first pause between them. */
const SEND_ATTEMPTS_MAX = 4;
const FIRST_PAUSE_MS = 25;
/** A worker's default pace, and how many workers SQS takes (infra/lib/defaults.ts). */
const POSTS_PER_WORKER_SECOND = 500;
const WORKERS_MIN = 2;
const WORKERS_MAX = 1_000;
/** A worker's function has 30 s, of which 4 are kept for the end; what is left then comes again after a second or more. */
const WORKER_MS = 26_000;
const AGAIN_MS = { least: 1_000, most: 4_000 };

/** Throttling halves a worker's pace, and not again before the gateway can have noticed (cloud/src/pace.ts). */
const SLOW_DOWN_PAUSE_MS = 250;
/** After a pause so much of the pace may leave at once. */
const PACE_BURST_MS = 100;
const RECOVERY_SHARE_PER_SECOND = 0.05;
const RATE_MIN = 10;

interface Job {
  recipients: number;
  readonly publishedAtMs: readonly number[];
}

interface ReadyJob {
  readonly group: string;
  readonly job: Job;
}

/** The jobs of one frame: one for each shard of a topic's filter. */
interface Jobs {
  readonly recipients: number;
  readonly publishedAtMs: readonly number[];
  readonly topic: number;
  readonly shards: number;
}

/** Of wide filters: a job for each shard in an SQS FIFO queue, one worker at a time for each shard, up to ten jobs a batch. */
export class FanOutWorkers {
  readonly #model: Model;
  readonly #workersMax: number;
  #busyWorkers = 0;
  /** Of each group that is being served, the jobs behind. */
  readonly #groups = new Map<string, Job[]>();
  /** Those whose groups are free. */
  readonly #ready: ReadyJob[] = [];
  #isAwake = false;
  /** Calls that touch one message group, for each topic. */
  readonly #groupCalls = new Map<number, TokenBucket>();
  readonly #postsPerWorker: number;

  constructor(model: Model) {
    this.#model = model;
    const budget = model.quotas.maxPostsPerSecond;
    const wanted = Math.min(WORKERS_MAX, Math.max(WORKERS_MIN, Math.ceil(budget / POSTS_PER_WORKER_SECOND)));
    this.#workersMax = wanted;
    this.#postsPerWorker = Math.min(budget / wanted, POSTS_PER_WORKER_SECOND);
  }

  /** Puts the jobs of one frame into the queue, then says whether it took them. */
  accept(recipients: number, publishedAtMs: readonly number[], then: (isDone: boolean) => void): void {
    const topic = Math.floor(this.#model.random.next() * this.#model.workload.topics);
    this.#send({ recipients, publishedAtMs, topic, shards: shardsOf(recipients) }, 1, then);
  }

  #send(jobs: Jobs, attempt: number, then: (isDone: boolean) => void): void {
    const { loop, random, times } = this.#model;
    const requests = Math.ceil(jobs.shards / BATCH_ENTRIES_MAX);
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

  /** All shards of a topic are sent to alike: what one of its groups takes, the others take too. */
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
    for (let shard = 0; shard < shards; shard += 1) {
      const part = Math.floor(recipients / shards) + (shard < recipients % shards ? 1 : 0);
      this.#queue(`${topic} ${shard}`, { recipients: part, publishedAtMs });
    }
  }

  /** Of a group one job is served at a time; the others wait for it. */
  #queue(group: string, job: Job): void {
    const waiting = this.#groups.get(group);
    if (waiting !== undefined) {
      waiting.push(job);
      return;
    }
    this.#groups.set(group, []);
    this.#offer({ group, job });
  }

  #offer(ready: ReadyJob): void {
    this.#ready.push(ready);
    this.#wake();
  }

  /** What becomes ready at the same time comes in one batch, as far as it goes. */
  #wake(): void {
    if (this.#isAwake) return;
    this.#isAwake = true;
    this.#model.loop.after(0, () => {
      this.#isAwake = false;
      while (this.#ready.length > 0 && this.#busyWorkers < this.#workersMax) {
        const batch = this.#ready.splice(0, BATCH_ENTRIES_MAX);
        this.#busyWorkers += 1;
        this.#model.count((tally) => {
          // Received, and deleted.
          tally.fifoRequests += 2;
        });
        this.#model.loop.after(this.#model.random.latency(this.#model.times.fifoToFunction), () =>
          this.#invoke(batch),
        );
      }
    });
  }

  /** One invocation: the jobs of a batch one after another, until all are done or its time is over. */
  #invoke(batch: readonly ReadyJob[]): void {
    const { loop, random, times, account } = this.#model;
    const start = account.workers.enter(loop.nowMs);
    if (start === 'throttled') {
      this.#model.count((tally) => {
        tally.framesWithoutFunction += 1;
      });
      this.#release(batch);
      return;
    }
    const startedAtMs = loop.nowMs;
    const coldMs = start === 'cold' ? random.latency(times.coldStart) : 0;
    const pace = { rate: this.#postsPerWorker, nextMs: 0, slowedAtMs: Number.NEGATIVE_INFINITY };
    const left = [...batch];
    const end = () => {
      account.workers.leave();
      this.#model.count((tally) => {
        tally.invocations += 1;
        tally.billedMs += Math.ceil(loop.nowMs - startedAtMs);
      });
      this.#release(left);
    };
    const slice = () => {
      const [current] = left;
      if (current === undefined || loop.nowMs - startedAtMs > WORKER_MS) {
        end();
      } else if (current.job.recipients === 0) {
        left.shift();
        this.#groupDone(current.group);
        slice();
      } else this.#slice(current.job, pace, slice);
    };
    loop.after(coldMs + this.#model.cpu(times.frameCpuMs), slice);
  }

  /** The worker is free; what it has not done comes again after a while. */
  #release(left: readonly ReadyJob[]): void {
    const { loop, random } = this.#model;
    this.#busyWorkers -= 1;
    const { least, most } = AGAIN_MS;
    for (const ready of left) loop.after(least + random.next() * (most - least), () => this.#offer(ready));
    this.#wake();
  }

  #groupDone(group: string): void {
    const next = this.#groups.get(group)?.shift();
    if (next === undefined) this.#groups.delete(group);
    else this.#offer({ group, job: next });
  }

  /** Claims a slice, then posts to each of it, as fast as the pace lets through. */
  #slice(job: Job, pace: WorkerPace, then: () => void): void {
    const { loop, workload } = this.#model;
    const recipients = Math.min(SLICE_RECIPIENTS, job.recipients);
    // A page of the shard, and the claim.
    const use = { calls: 2, reads: recipients * READS_PER_SUBSCRIBER, writes: 1 };
    const bytes = pushBytes((workload.payloadBytes + 31) * job.publishedAtMs.length);
    this.#model.useStore(use, (isClaimed) => {
      if (!isClaimed) {
        loop.after(AGAIN_MS.least, then);
        return;
      }
      job.recipients -= recipients;
      let left = recipients;
      const one = () => {
        left -= 1;
        if (left === 0) then();
      };
      for (let index = 0; index < recipients; index += 1) this.#post(job, bytes, pace, one);
    });
  }

  #post(job: Job, bytes: number, pace: WorkerPace, then: () => void): void {
    const { loop } = this.#model;
    const dueMs = Math.max(pace.nextMs, loop.nowMs - PACE_BURST_MS);
    pace.nextMs = dueMs + 1_000 / pace.rate;
    loop.after(dueMs - loop.nowMs, () => {
      this.#model.post(bytes, (isSent) => {
        if (!isSent) {
          // Many refusals at once are the account's: the pace halves, and nobody is given up.
          this.#slowDown(pace);
          this.#post(job, bytes, pace, then);
          return;
        }
        this.#recover(pace);
        for (const atMs of job.publishedAtMs) deliver(this.#model, atMs, true);
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

/** Shards double until each takes at most a thousand. */
export function shardsOf(recipients: number): number {
  const doublings = Math.ceil(Math.log2(Math.max(1, recipients / SHARD_SUBSCRIBERS)));
  return Math.min(SHARDS_MAX, 2 ** doublings);
}

import { type Message, messageBytes } from '@apus/broker';
import type { Scheduler } from '@apus/node';
import type { RetryLimits } from './retry-limits.ts';
import type { BatchLimits, Failure, Target } from './target.ts';

/** A message on its way, and the callback for its arrival or its end as a dead letter. */
export interface Job {
  readonly message: Message;
  readonly done: () => void;
}

export interface LaneHandlers {
  sent(count: number): void;
  /** An attempt failed: another one follows, or `dead`. */
  failed(failure: Failure): void;
  /** True when the message is stored as a dead letter; false if there is no room for more. */
  dead(message: Message, error: string, attempts: number): Promise<boolean>;
}

/** Sends messages of some topics to a target: one batch after another, so that each topic keeps its order. */
export class Lane {
  readonly #target: Target;
  readonly #retry: RetryLimits;
  readonly #handlers: LaneHandlers;
  readonly #clock: Scheduler;
  #jobs: Job[] = [];
  #running: Promise<void> | undefined;
  #isStopped = false;
  #wake: () => void = () => {};

  constructor(target: Target, retry: RetryLimits, handlers: LaneHandlers, clock: Scheduler) {
    this.#target = target;
    this.#retry = retry;
    this.#handlers = handlers;
    this.#clock = clock;
  }

  add(job: Job): void {
    if (this.#isStopped) return;
    this.#jobs.push(job);
    this.#running ??= Promise.resolve().then(() => this.#run());
  }

  /** Resolves when no call is under way. Messages that have not arrived stay unacknowledged. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#jobs.length > 0 && !this.#isStopped) {
      const batch = batchOf(this.#jobs, this.#target.batch);
      const isDone = await this.#deliver(batch);
      if (isDone) {
        const gone = new Set(batch);
        this.#jobs = this.#jobs.filter((job) => !gone.has(job));
      }
    }
    this.#running = undefined;
  }

  /** True when each message has arrived or is a dead letter; false if the lane has been stopped. */
  async #deliver(batch: readonly Job[]): Promise<boolean> {
    let left = batch;
    for (let attempt = 1; !this.#isStopped; attempt += 1) {
      const failure = await this.#target.send(left.map(({ message }) => message));
      const failed = new Set(failure?.messages);
      left = this.#withoutArrived(left, failed);
      if (failure === undefined) return true;
      if (this.#isStopped) return false;
      this.#handlers.failed(failure);
      // The target may refuse only one of them: each gets an attempt of its own.
      if (failure.isPermanent && left.length > 1) return await this.#oneByOne(left);
      const isLast = failure.isPermanent || attempt >= this.#retry.attempts;
      if (isLast) left = await this.#bury(left, failure.error, attempt);
      if (left.length === 0) return true;
      await this.#pause(failure.retryAfterMs ?? 0, attempt);
    }
    return false;
  }

  #withoutArrived(batch: readonly Job[], failed: ReadonlySet<Message>): readonly Job[] {
    const arrived = batch.filter(({ message }) => !failed.has(message));
    if (arrived.length > 0) this.#handlers.sent(arrived.length);
    for (const { done } of arrived) done();
    return batch.filter(({ message }) => failed.has(message));
  }

  async #oneByOne(jobs: readonly Job[]): Promise<boolean> {
    for (const job of jobs) if (!(await this.#deliver([job]))) return false;
    return true;
  }

  /** Returns the messages that no dead letter has room for: the lane keeps trying, and its queue fills up. */
  async #bury(jobs: readonly Job[], error: string, attempts: number): Promise<readonly Job[]> {
    for (const [index, { message, done }] of jobs.entries()) {
      if (!(await this.#handlers.dead(message, error, attempts))) return jobs.slice(index);
      done();
    }
    return [];
  }

  /** The delay doubles with each attempt. */
  async #pause(atLeastMs: number, attempt: number): Promise<void> {
    const { firstDelayMs, delayMsMax } = this.#retry;
    const delayMs = Math.min(delayMsMax, firstDelayMs * 2 ** Math.min(attempt - 1, 20));
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(Math.min(delayMsMax, Math.max(atLeastMs, delayMs)), resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }
}

/** The first jobs that may be sent together. */
export function batchOf<T extends Pick<Job, 'message'>>(
  jobs: readonly T[],
  { messagesMax, bytesMax, isPartial }: BatchLimits,
): readonly T[] {
  const batch: T[] = [];
  const topics = new Set<string>();
  let bytes = 0;
  for (const job of jobs) {
    const { topic } = job.message;
    bytes += messageBytes(job.message);
    if (batch.length === messagesMax || (batch.length > 0 && bytes > bytesMax)) break;
    if (isPartial && topics.has(topic)) break;
    topics.add(topic);
    batch.push(job);
  }
  return batch;
}

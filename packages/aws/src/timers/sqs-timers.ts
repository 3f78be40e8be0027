import type { Clock, DueTimer, Timer, Timers } from '@apus/broker';
import type { JobQueue, QueueEntry } from '../fan-out/job-queue.ts';
import {
  type AnyTimer,
  type ConflationMessage,
  type DelayedTimer,
  encodeAny,
  type TickMessage,
  type TimerMessage,
} from './message.ts';

/** SQS delays a message of a standard queue by at most a quarter of an hour: a later timer takes several hops. */
export const HOP_SECONDS_MAX = 900;

/** A timer that is armed again waits at least this long, even if clocks differ, so it never spins. */
const AGAIN_SECONDS_MIN = 1;

/**
 * A session that ends later is left to the sweep, which finds it within minutes of its time. A session of a week would
 * take 672 hops, a million of them would cost $800, and no client waits for the end of a session. Subscribers wait for
 * a will, so a will always has a timer.
 */
const SESSION_EXPIRY_SECONDS_MAX = 60 * 60;

export interface SqsTimersOptions {
  /** A standard queue, whose messages `createTimerHandler` handles. */
  readonly queue: JobQueue;
  readonly clock: Clock;
  /** A session that ends later is left to the sweep. @default 3600 */
  readonly sessionExpirySecondsMax?: number;
}

/**
 * The broker's timers as delayed messages. A timer decides nothing, so none is ever cancelled: one that is obsolete
 * fires, and the store says so. SQS delivers at least once, and so does this.
 */
export class SqsTimers implements Timers {
  readonly #options: SqsTimersOptions;

  constructor(options: SqsTimersOptions) {
    this.#options = options;
  }

  async set(timer: Timer, dueAtMs: number): Promise<void> {
    await this.setAll([{ timer, dueAtMs }]);
  }

  /** In one request. */
  async setAll(timers: readonly DueTimer[]): Promise<void> {
    const { queue, clock, sessionExpirySecondsMax = SESSION_EXPIRY_SECONDS_MAX } = this.#options;
    const latestMs = clock.now() + sessionExpirySecondsMax * 1_000;
    const set = timers.filter(({ timer, dueAtMs }) => timer.kind !== 'session-expiry' || dueAtMs <= latestMs);
    if (set.length === 0) return;
    await queue.send(
      set.map(({ timer: { kind, session, connectionId }, dueAtMs }) =>
        this.#entry({ kind, session, connectionId, dueAtMs }, 0),
      ),
    );
  }

  cancel(): void {}

  /** Arms a timer of a kind that the broker does not know. */
  async arm(timer: TimerMessage): Promise<void> {
    await this.#send(timer, 0);
  }

  /** The tick of a room. */
  async armTick(tick: Omit<TickMessage, 'kind'>): Promise<void> {
    await this.#send({ ...tick, kind: 'tick' }, 0);
  }

  /** A message that is published later. */
  async armDelayed(delayed: DelayedTimer): Promise<void> {
    await this.#send(delayed, 0);
  }

  /** The tick of a conflated group. */
  async armConflation(tick: Omit<ConflationMessage, 'kind'>): Promise<void> {
    await this.#send({ ...tick, kind: 'conflation' }, 0);
  }

  /** For a timer that was received and is not done: as a new message, whose receipts are counted anew. */
  async armAgain(timer: AnyTimer, secondsMin = AGAIN_SECONDS_MIN): Promise<void> {
    await this.#send(timer, secondsMin);
  }

  async #send(timer: AnyTimer, secondsMin: number): Promise<void> {
    await this.#options.queue.send([this.#entry(timer, secondsMin)]);
  }

  /** Whole seconds, rounded up: a timer fires at its time or after it. */
  #entry(timer: AnyTimer, secondsMin: number): QueueEntry {
    const left = Math.ceil((timer.dueAtMs - this.#options.clock.now()) / 1_000);
    const delaySeconds = Math.min(HOP_SECONDS_MAX, Math.max(secondsMin, left));
    return { body: encodeAny(timer), delaySeconds };
  }
}

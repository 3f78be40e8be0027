import type { Clock, Timer, Timers } from '@apus/broker';
import type { JobQueue } from '../fan-out/job-queue.ts';
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

/** A timer that is armed again waits at least this long, even if clocks disagree: it never spins. */
const AGAIN_SECONDS_MIN = 1;

/**
 * A session that ends later than this is left to the sweep, which finds it within minutes of its time. A session of a
 * week would take 672 hops, a million such sessions would cost $800, and no client waits for the end of a session.
 * Subscribers wait for a will, so a will always has its timer.
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
 * The broker's timers as delayed messages. A timer is a reminder and decides nothing, so none is ever taken back: one
 * that has lost its meaning rings, and the store says so. SQS delivers at least once, and so does this.
 */
export class SqsTimers implements Timers {
  readonly #options: SqsTimersOptions;

  constructor(options: SqsTimersOptions) {
    this.#options = options;
  }

  async set({ kind, session, connectionId }: Timer, dueAtMs: number): Promise<void> {
    const { clock, sessionExpirySecondsMax = SESSION_EXPIRY_SECONDS_MAX } = this.#options;
    if (kind === 'session-expiry' && dueAtMs - clock.now() > sessionExpirySecondsMax * 1_000) return;
    await this.#send({ kind, session, connectionId, dueAtMs }, 0);
  }

  cancel(): void {}

  /** The first of a kind that the broker does not know. */
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

  /** For a timer that was received and is not done with. */
  async armAgain(timer: AnyTimer): Promise<void> {
    await this.#send(timer, AGAIN_SECONDS_MIN);
  }

  /** Whole seconds, rounded up: a timer rings at its time or after it. */
  async #send(timer: AnyTimer, secondsMin: number): Promise<void> {
    const { queue, clock } = this.#options;
    const left = Math.ceil((timer.dueAtMs - clock.now()) / 1_000);
    const delaySeconds = Math.min(HOP_SECONDS_MAX, Math.max(secondsMin, left));
    await queue.send([{ body: encodeAny(timer), delaySeconds }]);
  }
}

import type { Clock } from '@apus/emulator/service';
import type { SqsLimits } from '../sqs/limits.ts';

const MINUTE_MS = 60_000;

/** How many batches a mapping may run at the same time. */
export class EventSourceConcurrency {
  readonly #clock: Clock;
  readonly #limits: SqsLimits;
  readonly #isFifo: boolean;
  readonly #max: number;
  #backlogSinceMs: number | undefined;

  /** @param maximum the mapping's own, if it has one */
  constructor(clock: Clock, limits: SqsLimits, isFifo: boolean, maximum: number | undefined) {
    this.#clock = clock;
    this.#limits = limits;
    this.#isFifo = isFifo;
    this.#max = Math.min(maximum ?? Number.POSITIVE_INFINITY, limits.eventSourceConcurrencyMax);
  }

  /** On a FIFO queue the groups alone limit it; on a standard one it grows by the minute of backlog. */
  get limit(): number {
    if (this.#isFifo) return this.#max;
    const { eventSourceConcurrencyAtFirst, eventSourceConcurrencyPerMinute } = this.#limits;
    const minutes = Math.floor((this.#clock.now() - (this.#backlogSinceMs ?? this.#clock.now())) / MINUTE_MS);
    return Math.min(this.#max, eventSourceConcurrencyAtFirst + minutes * eventSourceConcurrencyPerMinute);
  }

  /**
   * Messages wait, and as many batches run as allowed. Returns the milliseconds until more may run, if they ever may.
   */
  full(): number | undefined {
    if (this.limit >= this.#max) return undefined;
    const nowMs = this.#clock.now();
    this.#backlogSinceMs ??= nowMs;
    return MINUTE_MS - ((nowMs - this.#backlogSinceMs) % MINUTE_MS);
  }

  /** No message waits and no batch runs. */
  idle(): void {
    this.#backlogSinceMs = undefined;
  }
}

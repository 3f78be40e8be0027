import type { Awaitable, Timer, Timers } from '@apus/broker';
import { DueHeap } from './due-heap.ts';
import type { Scheduler } from './scheduler.ts';

/** The broker's timers in memory: any number of them over one `setTimeout`. */
export class NodeTimers implements Timers {
  readonly #scheduler: Scheduler;
  readonly #fire: (timer: Timer) => void;
  readonly #due = new DueHeap<Timer>();
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #cancelWake: () => void = () => {};

  /** `fire` does not throw. */
  constructor(scheduler: Scheduler, fire: (timer: Timer) => void) {
    this.#scheduler = scheduler;
    this.#fire = fire;
  }

  set(timer: Timer, dueAtMs: number): Awaitable<void> {
    this.#due.set(keyOf(timer), dueAtMs, timer);
    this.#arm();
  }

  cancel(timer: Timer): Awaitable<void> {
    // A wake-up that finds nothing due is cheaper than arming again at every cancel.
    this.#due.delete(keyOf(timer));
  }

  stop(): void {
    this.#cancelWake();
    this.#wakeAtMs = Number.NEGATIVE_INFINITY;
  }

  #arm(): void {
    const dueAtMs = this.#due.nextDueAtMs;
    if (dueAtMs === undefined || dueAtMs >= this.#wakeAtMs) return;
    this.#cancelWake();
    this.#wakeAtMs = dueAtMs;
    this.#cancelWake = this.#scheduler.after(dueAtMs - this.#scheduler.now(), () => this.#wake());
  }

  #wake(): void {
    this.#wakeAtMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#scheduler.now();
    // A timer that a fired one sets is due later, or is found by the next wake-up: the loop ends.
    for (let left = this.#due.size; left > 0; left -= 1) {
      const timer = this.#due.takeDue(nowMs);
      if (timer === undefined) break;
      this.#fire(timer);
    }
    this.#arm();
  }
}

function keyOf({ kind, session, connectionId }: Timer): string {
  return `${kind}\0${connectionId}\0${session.key}`;
}

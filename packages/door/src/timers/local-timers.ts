import { type Awaitable, type DueTimer, steadyNow, type Timer, type Timers, Turn } from '@apus/broker';
import { DueHeap } from './due-heap.ts';
import type { Scheduler } from './scheduler.ts';

/**
 * The broker's timers in memory: any number of them over one `setTimeout`. A timer that is set fires when its time has
 * passed, also where the wall clock steps meanwhile.
 */
export class LocalTimers implements Timers {
  readonly #scheduler: Scheduler;
  readonly #fire: (due: DueTimer) => void;
  readonly #due = new DueHeap<DueTimer>();
  /** Timers that wait to be put in order. */
  #found: readonly DueTimer[] = [];
  /** When the first of them is due, and what the clock without steps is ahead. */
  #foundDueAtMs = Number.POSITIVE_INFINITY;
  #aheadMs = 0;
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #cancelWake: () => void = () => {};

  /** `fire` does not throw. */
  constructor(scheduler: Scheduler, fire: (due: DueTimer) => void) {
    this.#scheduler = scheduler;
    this.#fire = fire;
  }

  /** Sets what a start has found. The first timer that is set, cancelled or due puts them in order: no wake-up waits for it. */
  restore(found: readonly DueTimer[]): void {
    this.#order();
    this.#found = found;
    this.#aheadMs = steadyNow(this.#scheduler) - this.#scheduler.now();
    for (const { dueAtMs } of found)
      this.#foundDueAtMs = Math.min(this.#foundDueAtMs, dueAtMs + this.#aheadMs);
    this.#arm();
  }

  set(timer: Timer, dueAtMs: number): Awaitable<void> {
    this.#order();
    const delayMs = dueAtMs - this.#scheduler.now();
    this.#due.set(keyOf(timer), steadyNow(this.#scheduler) + delayMs, { timer, dueAtMs });
    this.#arm();
  }

  cancel(timer: Timer): Awaitable<void> {
    this.#order();
    // A wake-up that finds nothing due is cheaper than arming again at every cancel.
    this.#due.delete(keyOf(timer));
  }

  stop(): void {
    this.#cancelWake();
    this.#wakeAtMs = Number.NEGATIVE_INFINITY;
  }

  #order(): void {
    if (this.#found.length === 0) return;
    const found = this.#found;
    this.#found = [];
    this.#foundDueAtMs = Number.POSITIVE_INFINITY;
    for (const due of found) this.#due.set(keyOf(due.timer), due.dueAtMs + this.#aheadMs, due);
  }

  #arm(): void {
    const dueAtMs = Math.min(this.#due.nextDueAtMs ?? Number.POSITIVE_INFINITY, this.#foundDueAtMs);
    if (dueAtMs >= this.#wakeAtMs) return;
    this.#cancelWake();
    this.#wakeAtMs = dueAtMs;
    this.#cancelWake = this.#scheduler.after(dueAtMs - steadyNow(this.#scheduler), () => this.#wake());
  }

  #wake(): void {
    this.#wakeAtMs = Number.POSITIVE_INFINITY;
    this.#order();
    const nowMs = steadyNow(this.#scheduler);
    const turn = new Turn(this.#scheduler);
    // A timer that a fired one sets is due later, or is found by the next wake-up: the loop ends. So does it when the
    // wills of many clients take too long: the next wake-up comes at once [SEC-WORK-6].
    for (let left = this.#due.size; left > 0 && !turn.isOver; left -= 1) {
      const due = this.#due.takeDue(nowMs);
      if (due === undefined) break;
      this.#fire(due);
    }
    this.#arm();
  }
}

function keyOf({ kind, session, connectionId }: Timer): string {
  return `${kind}\0${connectionId}\0${session.key}`;
}

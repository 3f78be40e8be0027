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
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #cancelWake: () => void = () => {};

  /** `fire` does not throw. */
  constructor(scheduler: Scheduler, fire: (due: DueTimer) => void) {
    this.#scheduler = scheduler;
    this.#fire = fire;
  }

  set(timer: Timer, dueAtMs: number): Awaitable<void> {
    const delayMs = dueAtMs - this.#scheduler.now();
    this.#due.set(keyOf(timer), steadyNow(this.#scheduler) + delayMs, { timer, dueAtMs });
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
    this.#cancelWake = this.#scheduler.after(dueAtMs - steadyNow(this.#scheduler), () => this.#wake());
  }

  #wake(): void {
    this.#wakeAtMs = Number.POSITIVE_INFINITY;
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

import { steadyNow } from '@apus/broker';
import type { Scheduler } from '@apus/door';

/** How often waiting clients are looked at: a client at its limit is served in steps of this length. */
const TICK_MS = 50;

/** Something that waits until a debt is worked off. */
export interface Waiting {
  mayGoOn(nowMs: number): boolean;
  /** It may go on; it may have to wait again before this call returns. */
  goOn(nowMs: number): void;
}

/** One timer for everything that waits, and none while nothing does. They go on in the order in which they came. */
export class Throttle {
  readonly #scheduler: Scheduler;
  readonly #waiting = new Set<Waiting>();
  #cancel: (() => void) | undefined;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  add(waiting: Waiting): void {
    this.#waiting.add(waiting);
    this.#cancel ??= this.#scheduler.after(TICK_MS, () => this.#tick());
  }

  delete(waiting: Waiting): void {
    this.#waiting.delete(waiting);
  }

  /** A debt has become known: some may go on. */
  look(): void {
    if (this.#waiting.size === 0) return;
    this.#cancel?.();
    this.#tick();
  }

  stop(): void {
    this.#waiting.clear();
    this.#cancel?.();
  }

  #tick(): void {
    this.#cancel = undefined;
    const nowMs = steadyNow(this.#scheduler);
    // A copy: one that has to wait again comes last, and is not asked twice.
    for (const each of [...this.#waiting]) {
      if (!each.mayGoOn(nowMs)) continue;
      this.#waiting.delete(each);
      each.goOn(nowMs);
    }
    if (this.#waiting.size > 0) this.#cancel ??= this.#scheduler.after(TICK_MS, () => this.#tick());
  }
}

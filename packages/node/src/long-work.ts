import type { Scheduler } from '@apus/door';
import { Crowd } from '@apus/identity';

/** Milliseconds between two turns: the process handles packets meanwhile. A turn takes about as long. */
const PAUSE_MS = 5;

/** Goes on with the work of one link. */
export type Turn = () => void;

/**
 * Work that is too long for one turn of the event loop, as of a SUBSCRIBE whose filters lead to many retained messages
 * [SEC-WORK-2]. The links go on one at a time, so that all of them together take half of the processor at most.
 * Identities take turns, and a link that ends leaves: connections of one identity make no other one wait for all of
 * them [SEC-GROWTH-3].
 */
export class LongWork {
  readonly #scheduler: Scheduler;
  /** By identity. One for each open link at most. */
  readonly #waiting = new Crowd<Turn>();
  #isScheduled = false;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** Calls back once, when it is this link's turn. @param holder the identity, as `quotaHolderKey` */
  add(turn: Turn, holder: string): void {
    this.#waiting.add(turn, holder);
    this.#schedule();
  }

  /** The link has ended. */
  delete(turn: Turn): void {
    this.#waiting.delete(turn);
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    this.#scheduler.after(PAUSE_MS, () => {
      this.#isScheduled = false;
      try {
        // It may add itself again, behind the others.
        this.#waiting.takeTurn(() => true)?.[0]();
      } finally {
        this.#schedule();
      }
    });
  }
}

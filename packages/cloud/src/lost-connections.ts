import { settle } from './after.ts';
import type { Environment } from './environment.ts';
import type { FailedPost } from './postbag.ts';

/** Connections that are ended at the same time: each takes some reads and writes. */
const PARALLEL_MAX = 8;

/**
 * Connections that posts found gone, or that are closed for not reading. They are ended beside the posts of others: of
 * a thousand connections that were cut together none holds up those that are there.
 */
export class LostConnections {
  readonly #environment: Environment;
  readonly #hasTime: () => boolean;
  readonly #waiting: FailedPost[] = [];
  #enders: Promise<void>[] = [];
  #running = 0;

  constructor(environment: Environment, hasTime: () => boolean) {
    this.#environment = environment;
    this.#hasTime = hasTime;
  }

  add(failed: FailedPost): void {
    // First those that miss something: they are closed, and a message that they would not get must not be followed.
    if (failed.outcome === 'gone') this.#waiting.push(failed);
    else this.#waiting.unshift(failed);
    if (this.#running < PARALLEL_MAX) this.#enders.push(this.#end());
  }

  /** Resolves when all have been ended, or the time is out. Those left are found by the next post, or by the sweep. */
  async done(): Promise<void> {
    while (this.#enders.length > 0) {
      const enders = this.#enders;
      this.#enders = [];
      await Promise.all(enders);
    }
    if (this.#waiting.length > 0) {
      this.#environment.log.warn('lost-connections-left', { count: this.#waiting.length });
    }
  }

  async #end(): Promise<void> {
    this.#running += 1;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      try {
        await settle(this.#environment, next);
      } catch (error) {
        // Its socket is closed: what the stores still say of it ends with $disconnect, or with the sweep.
        this.#environment.log.warn('lost-connection-failed', { ...next, reason: String(error) });
      }
    }
    this.#running -= 1;
  }

  #next(): FailedPost | undefined {
    return this.#hasTime() ? this.#waiting.shift() : undefined;
  }
}

import { SAVES_AT_ONCE_MAX } from '../limits.ts';

/** Whether links change so often that the object is better kept awake. */
export class Density {
  readonly #quietMs: number;
  /** The present time of quiet, and the changes of links in it. */
  #moment = 0;
  #changes = 0;
  #wasDense = false;

  constructor(quietMs: number) {
    this.#quietMs = quietMs;
  }

  isDense(changes: number): boolean {
    const moment = Math.floor(Date.now() / this.#quietMs);
    if (moment !== this.#moment) {
      this.#wasDense = moment === this.#moment + 1 && this.#changes >= SAVES_AT_ONCE_MAX;
      this.#moment = moment;
      this.#changes = 0;
    }
    this.#changes += changes;
    return this.#wasDense || this.#changes > SAVES_AT_ONCE_MAX;
  }
}

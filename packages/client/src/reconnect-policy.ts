import { RECONNECT_SECONDS_MAX, RECONNECT_SECONDS_MIN } from './limits.ts';

/** mqtt.js takes 0 for "never". */
const AT_ONCE_MS = 1;

/**
 * How long to wait before the next reconnect (8): not at all before the first, then a random time ("full jitter"),
 * since a fleet that was cut together must not return together.
 */
export class ReconnectPolicy {
  #connections = 0;
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** A connection begins. The wait before the one that would follow it, in milliseconds. */
  begin(): number {
    this.#connections += 1;
    return this.#waitMs();
  }

  /** The connection proved stable: the next reconnect is a first one. */
  stable(): number {
    this.#connections = 1;
    return this.#waitMs();
  }

  #waitMs(): number {
    if (this.#connections === 1) return AT_ONCE_MS;
    const maxSeconds = Math.min(RECONNECT_SECONDS_MAX, 2 ** this.#connections);
    const seconds = RECONNECT_SECONDS_MIN + this.#random() * (maxSeconds - RECONNECT_SECONDS_MIN);
    return Math.round(seconds * 1_000);
  }
}

import { RECONNECT_SECONDS_MAX, RECONNECT_SECONDS_MIN } from './limits.ts';

/** mqtt.js takes 0 for "never". */
const AT_ONCE_MS = 1;

/**
 * How long to wait before the next reconnect (8). The first reconnect does not wait; the next ones wait for a random
 * time ("full jitter"), since clients that were cut together must not return together.
 */
export class ReconnectPolicy {
  #connections = 0;
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Notes that a connection begins. Returns the wait before its successor, in milliseconds. */
  begin(): number {
    this.#connections += 1;
    return this.#waitMs();
  }

  /** The connection was stable: the next reconnect counts as the first. */
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

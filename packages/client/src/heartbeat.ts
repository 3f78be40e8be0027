/** How often the transport looks at its clock: a look that comes much later tells that the computer has slept. */
const LOOK_MS = 30_000;

/**
 * Browsers run the timers of hidden pages once a minute. A timer that is later than this means that the machine slept.
 */
const SLEPT_MS = 65_000;

/** Timers are never quite on time; beyond this they are being slowed down. */
const LATE_MS = 1_000;

/**
 * Decides when a real PINGREQ has to prove the connection (5). It counts from the last frame that asked for a reply:
 * only a reply proves anything.
 */
export class Heartbeat {
  #periodMs: number;
  #askedAt: number;
  #lookedAt: number;
  #plannedMs = 0;

  constructor(periodSeconds: number, now: number) {
    this.#periodMs = periodSeconds * 1_000;
    this.#askedAt = now;
    this.#lookedAt = now;
  }

  /** The server wants to hear more often. */
  shorten(periodSeconds: number): void {
    this.#periodMs = Math.min(this.#periodMs, periodSeconds * 1_000);
  }

  /** A frame that wants a reply has left. */
  asked(now: number): void {
    this.#askedAt = now;
  }

  /** Whether a PINGREQ is due, and in how many milliseconds to look again. */
  look(now: number): { readonly isDue: boolean; readonly againMs: number } {
    const silentMs = now - this.#askedAt;
    const lateMs = now - this.#lookedAt - this.#plannedMs;
    const hasSlept = lateMs > SLEPT_MS || now < this.#lookedAt;
    // Where timers are slowed down, the next look may be as late as this one: better early than after the gateway.
    const nextSilentMs = lateMs > LATE_MS ? silentMs + LOOK_MS + lateMs : silentMs;
    const isDue = hasSlept || nextSilentMs >= this.#periodMs;
    this.#lookedAt = now;
    this.#plannedMs = Math.min(LOOK_MS, isDue ? this.#periodMs : this.#periodMs - silentMs);
    return { isDue, againMs: this.#plannedMs };
  }
}

import { IDLE_SECONDS_MAX } from './limits.ts';

/** How often the transport looks at its clock. If a look comes much later than this, the computer has slept. */
const LOOK_MS = 30_000;

/**
 * Browsers run the timers of hidden pages once a minute. A timer that is later than this means that the machine slept.
 */
const SLEPT_MS = 65_000;

/** A timer may be this much late. A longer delay means that the browser slows timers down. */
const LATE_MS = 1_000;

const IDLE_MS = IDLE_SECONDS_MAX * 1_000;

/**
 * Decides when a PINGREQ has to prove that the connection is alive (5). It counts from the last frame that asked for a
 * reply, since only a reply is a proof. In between the gateway may need a frame so that it does not close an idle
 * connection (16): for that, every frame counts.
 */
export class Heartbeat {
  #periodMs: number;
  #askedAt: number;
  #passedAt: number;
  #lookedAt: number;
  #plannedMs = 0;

  constructor(periodSeconds: number, now: number) {
    this.#periodMs = periodSeconds * 1_000;
    this.#askedAt = now;
    this.#passedAt = now;
    this.#lookedAt = now;
  }

  /** The server asks for a shorter Keep Alive. */
  shorten(periodSeconds: number): void {
    this.#periodMs = Math.min(this.#periodMs, periodSeconds * 1_000);
  }

  /** A frame that wants a reply has left. */
  asked(now: number): void {
    this.#askedAt = now;
    this.#passedAt = now;
  }

  /** A frame has left or come: the gateway counts its idle time anew. */
  passed(now: number): void {
    this.#passedAt = now;
  }

  /**
   * Whether a PINGREQ or a sign of life is due, and after how many milliseconds to look again. `takesAlive`: the server
   * takes signs of life; otherwise PINGREQ keeps the connection open as well.
   */
  look(
    now: number,
    takesAlive: boolean,
  ): { readonly due: 'ping' | 'alive' | undefined; readonly againMs: number } {
    const periodMs = takesAlive ? this.#periodMs : Math.min(this.#periodMs, IDLE_MS);
    const silentMs = now - this.#askedAt;
    const idleMs = now - this.#passedAt;
    const lateMs = now - this.#lookedAt - this.#plannedMs;
    const hasSlept = lateMs > SLEPT_MS || now < this.#lookedAt;
    // If timers are slowed down, the next look may be as late as this one was: a PINGREQ that is too early is better
    // than one after the gateway has closed.
    const untilNextMs = lateMs > LATE_MS ? LOOK_MS + lateMs : 0;
    const isPing = hasSlept || silentMs + untilNextMs >= periodMs;
    const isAlive = idleMs + untilNextMs >= IDLE_MS;
    const due = isPing ? 'ping' : isAlive ? 'alive' : undefined;
    this.#lookedAt = now;
    this.#plannedMs = Math.min(
      LOOK_MS,
      isPing ? periodMs : periodMs - silentMs,
      due === undefined ? IDLE_MS - idleMs : IDLE_MS,
    );
    return { due, againMs: this.#plannedMs };
  }
}

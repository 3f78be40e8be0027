/** Posts that may leave at once after a pause, in milliseconds of the pace. */
const BURST_MS = 100;

/** Throttling halves the pace, and then not again before the gateway can have noticed. */
const SLOW_DOWN_FACTOR = 0.5;
const SLOW_DOWN_PAUSE_MS = 250;

/** Without throttling the pace rises by this share of the full pace each second. */
const RECOVERY_SHARE = 0.05;

/** The slowest pace, in posts a second: without posts the end of throttling could not be seen. */
const RATE_MIN = 10;

/**
 * A budget of posts a second. A caller takes a post, and learns how long to wait for it. Throttling lowers the pace by
 * a factor, and time raises it in steps, as in TCP: several workers come to share what the account allows.
 */
export class Pace {
  readonly #rateMax: number;
  #rate: number;
  /** When the next post is due. */
  #nextMs = 0;
  #slowedDownAtMs = Number.NEGATIVE_INFINITY;
  #recoveredAtMs = 0;
  /** The rate of recent posts: halving a budget that is hardly used would change nothing. */
  readonly #used = { sinceMs: 0, posts: 0, rate: 0 };

  constructor(postsPerSecond: number) {
    this.#rateMax = postsPerSecond;
    this.#rate = postsPerSecond;
  }

  get postsPerSecond(): number {
    return this.#rate;
  }

  /** Takes one post; it is due after this many milliseconds. */
  take(nowMs: number): number {
    this.#recover(nowMs);
    this.#count(nowMs);
    const dueMs = Math.max(this.#nextMs, nowMs - BURST_MS);
    this.#nextMs = dueMs + 1_000 / this.#rate;
    return Math.max(0, dueMs - nowMs);
  }

  slowDown(nowMs: number): void {
    if (nowMs - this.#slowedDownAtMs < SLOW_DOWN_PAUSE_MS) return;
    this.#slowedDownAtMs = nowMs;
    this.#recoveredAtMs = nowMs;
    const used = this.#used.rate > 0 ? Math.min(this.#rate, this.#used.rate) : this.#rate;
    this.#rate = Math.max(Math.min(RATE_MIN, this.#rateMax), used * SLOW_DOWN_FACTOR);
  }

  #recover(nowMs: number): void {
    const elapsedMs = nowMs - this.#recoveredAtMs;
    if (this.#rate === this.#rateMax || elapsedMs < 1_000) return;
    this.#recoveredAtMs = nowMs;
    this.#rate = Math.min(this.#rateMax, this.#rate + (this.#rateMax * RECOVERY_SHARE * elapsedMs) / 1_000);
  }

  #count(nowMs: number): void {
    const used = this.#used;
    const elapsedMs = nowMs - used.sinceMs;
    if (elapsedMs >= 1_000) {
      used.rate = (used.posts * 1_000) / elapsedMs;
      used.sinceMs = nowMs;
      used.posts = 0;
    }
    used.posts += 1;
  }
}

/** The time after which old counts are dropped: a post counts for one to two of these. */
const WINDOW_MS = 5_000;

/**
 * At or above this share of refused posts, the account counts as throttled. Below it, the clients that are refused do
 * not read.
 */
const THROTTLED_SHARE = 0.1;

/** The account counts as throttled only after this many refused posts: fewer could be chance. */
const THROTTLED_MIN = 5;

/** Successful posts that are added to those counted, so that a few refusals at the start weigh less. */
const ASSUMED_TAKEN = 5;

/**
 * A connection is given up after so many refusals that throttling alone would cause them with less than this
 * probability.
 */
const CHANCE = 1 / 10_000;

/** A connection is tried this often even if refusals are rare, as its trouble may pass within a moment. */
const TRIES_MIN = 4;

/**
 * Tells a throttled account from a client that does not read. The gateway answers 429 to both, but throttling strikes
 * any connection, while a slow client's is refused again and again. If a share of first tries is refused, one
 * connection is refused n times by chance with the probability share^n.
 *
 *     refused share     tries before a connection is given up
 *     up to 10 %        4
 *     30 %              8
 *     50 %              14
 *     90 %              88
 *     nearly all        more than there is time for
 */
export class Refusals {
  #startMs = 0;
  #now = { posts: 0, refused: 0 };
  #before = { posts: 0, refused: 0 };

  /** The first try of a post to a connection. */
  note(isRefused: boolean, nowMs: number): void {
    this.#move(nowMs);
    this.#now.posts += 1;
    if (isRefused) this.#now.refused += 1;
  }

  /** The share of refused posts, from 0 to 1. */
  share(nowMs: number): number {
    this.#move(nowMs);
    const posts = this.#now.posts + this.#before.posts;
    return (this.#now.refused + this.#before.refused) / (posts + ASSUMED_TAKEN);
  }

  isThrottled(nowMs: number): boolean {
    const share = this.share(nowMs);
    return this.#now.refused + this.#before.refused >= THROTTLED_MIN && share >= THROTTLED_SHARE;
  }

  #move(nowMs: number): void {
    const elapsedMs = nowMs - this.#startMs;
    if (elapsedMs < WINDOW_MS) return;
    this.#before = elapsedMs < 2 * WINDOW_MS ? this.#now : { posts: 0, refused: 0 };
    this.#now = { posts: 0, refused: 0 };
    this.#startMs = nowMs;
  }
}

/** How often a connection is tried if this share of all posts is refused. */
export function triesAt(share: number): number {
  return Math.max(TRIES_MIN, share <= 0 ? 0 : Math.ceil(Math.log(CHANCE) / Math.log(share)));
}

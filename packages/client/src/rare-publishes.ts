import { HANDLER_LIFE_MS, RARE_PUBLISHES } from './limits.ts';

/**
 * A lone QoS 0 publish would cost a second billed frame for its empty reply. A client that only sends such publishes
 * may do without the reply (5).
 */
export class RarePublishes {
  #inARow = 0;
  #lastFrameAt = 0;

  /** Counts a frame that is about to leave, and returns whether it may go without a reply. */
  next(isLoneQos0: boolean, now: number): boolean {
    const isRare = isLoneQos0 && now - this.#lastFrameAt > HANDLER_LIFE_MS;
    const isUnanswered = isRare && this.#inARow >= RARE_PUBLISHES;
    this.#inARow = isRare ? this.#inARow + 1 : 0;
    this.#lastFrameAt = now;
    return isUnanswered;
  }

  /** The client sends other packets too: the count begins anew. */
  startAgain(): void {
    this.#inARow = 0;
  }
}

import type { Inflight } from './inflight.ts';
import type { QueueView, QueueViews } from './queue-view.ts';
import type { Waiting } from './waiting.ts';
import type { Window } from './window.ts';

/** 'only-pubrels': those are still to be sent again, which holds no message back. */
export type Settled = 'live' | 'only-pubrels' | 'draining';

/**
 * From draining to live by way of settling: what was written before `settling` is seen by the look that follows, and
 * what is written after it meets `settling` or `live` and is taken back by whoever wrote it.
 */
export class Settle {
  readonly #views: QueueViews;
  readonly #waiting: Waiting;
  readonly #inflight: Inflight;

  constructor(views: QueueViews, waiting: Waiting, inflight: Inflight) {
    this.#views = views;
    this.#waiting = waiting;
    this.#inflight = inflight;
  }

  /**
   * In phase settling: looks, and says live or draining. Waiting before inflight, as a message that is drawn is put
   * inflight before it leaves the waiting ones: it is seen in one place at least.
   */
  async tryOnce(view: QueueView): Promise<Settled> {
    const { items } = await this.#waiting.first(view.session, 1);
    const window = await this.#inflight.read(view);
    if (items.length > 0 || window.hasMessagesToSendAgain) {
      await this.#views.change(view, ['settling'], 'draining');
      return 'draining';
    }
    if (window.hasPubrelsToSendAgain) return 'only-pubrels';
    return (await this.goLive(view, window)) ? 'live' : 'draining';
  }

  /** What was seen since `settling` was written leaves nothing to be sent. False when a publisher has objected. */
  async goLive(view: QueueView, window: Window): Promise<boolean> {
    return await this.#views.change(view, ['settling'], window.isRegular ? 'live' : 'crowded');
  }
}

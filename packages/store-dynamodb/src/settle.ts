import type { Drawn } from './drawn.ts';
import type { FrameCache } from './frame-cache.ts';
import type { Inflight } from './inflight.ts';
import type { QueueView, QueueViews } from './queue-view.ts';
import type { QueryPage } from './table.ts';
import type { Item } from './values.ts';
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
  readonly #drawn: Drawn;
  readonly #frame: FrameCache;

  constructor(views: QueueViews, waiting: Waiting, inflight: Inflight, drawn: Drawn, frame: FrameCache) {
    this.#drawn = drawn;
    this.#frame = frame;
    this.#views = views;
    this.#waiting = waiting;
    this.#inflight = inflight;
  }

  /**
   * In phase settling: looks, and says live or draining. Waiting before inflight, as a message that is drawn is put
   * inflight before it leaves the waiting ones: it is seen in one place at least.
   *
   * `asks`: a publisher does not know whether what was drawn has left; see `isHeldBack` for who has drawn it.
   */
  async tryOnce(view: QueueView, asks: 'publisher' | 'drain'): Promise<Settled> {
    const first = await this.#waiting.first(view.session, 1);
    const window = await this.#inflight.read(view, first);
    const isHeldBack = asks === 'publisher' ? window.isAwaited : this.isHeldBack(window);
    const mustWait = window.hasMessagesToSendAgain || isHeldBack;
    if (mustWait || (await this.#isSomethingWaiting(view, first, window))) {
      await this.#views.change(view, ['settling'], 'draining');
      return 'draining';
    }
    if (window.hasPubrelsToSendAgain) return 'only-pubrels';
    return (await this.goLive(view, window)) ? 'live' : 'draining';
  }

  /**
   * Messages that left with a reply, or as what an acknowledgement drew, have not been acknowledged. Between frames
   * nobody knows but by that whether they have arrived, and what is posted meanwhile could overtake them:
   *
   *     handler of PUBACK 1                handler of PUBACK 2             publisher
   *     draws the last that waits
   *     (is slow, or dies)
   *                                        nothing waits; were it live …
   *                                                                        … posts a newer message
   *     its reply leaves: the older one
   *
   * Their acknowledgements look again. Outside of frames what is drawn is sent by whoever has drawn it, at once. A
   * publisher is nobody of whom that is known, in a frame or in a worker.
   */
  isHeldBack(window: Window): boolean {
    return this.#frame.isOpen && window.isAwaited;
  }

  /** What has been drawn waits as well, for its acknowledgement: anything beyond that. */
  async #isSomethingWaiting(view: QueueView, { items }: QueryPage, window: Window): Promise<boolean> {
    const isUndrawn = (item: Item) => !window.isDrawnHere(item);
    if (items.some(isUndrawn)) return true;
    if (items.length === 0) return false;
    const { here, moving } = window.drawn;
    const more = await this.#waiting.first(view.session, here.length + moving.length + 1);
    return more.items.some(isUndrawn);
  }

  /** What was seen since `settling` was written leaves nothing to be sent. False when a publisher has objected. */
  async goLive(view: QueueView, window: Window): Promise<boolean> {
    const phase = await this.#phaseFor(view, window);
    return await this.#views.change(view, ['settling'], phase);
  }

  /**
   * In phase crowded: what crowded the window may have been acknowledged. Whoever puts something under an id above it
   * meanwhile looks again after that, and objects (`Recount`).
   */
  async tryRegular(view: QueueView): Promise<void> {
    const window = await this.#inflight.read(view);
    if (!window.isRegular) return;
    if (!(await this.#views.change(view, ['crowded'], 'settling'))) return;
    await this.goLive(view, await this.#inflight.read(view));
  }

  async #phaseFor(view: QueueView, window: Window): Promise<'live' | 'crowded'> {
    if (!window.isRegular) return 'crowded';
    // Everything that it names has been acknowledged.
    if (window.drawn.list !== undefined) await this.#drawn.empty(view.session, window.drawn.list);
    return 'live';
  }
}

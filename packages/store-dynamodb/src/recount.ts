import type { PacketId } from '@apus/mqtt';
import type { Drawn } from './drawn.ts';
import type { Inflight } from './inflight.ts';
import type { QueueView, QueueViews } from './queue-view.ts';

/**
 * Whether what a publisher has put inflight has its place in the window [MQTT-3.3.4-9]. While a session is live, ids 1 to
 * Receive Maximum are the window. But it may have been live only when it was read:
 *
 *     publisher                          drain                              (Receive Maximum 1)
 *     reads: live
 *                                        (another one finds the window full: draining; its message waits)
 *                                        reads the window: empty
 *     puts id 1
 *                                        draws what waits, as id 2
 *     looks again: draining: counts, and takes its message back
 *
 * A drain counts before it writes down what it draws. Where it has not written that yet, it has to count once more:
 *
 *     publisher                          drain
 *                                        reads the window, and the list of what is drawn
 *     puts id 1
 *     looks again: draining: counts: one; writes the list anew
 *                                        writes the list: fails, it is not as it was seen; counts again
 *
 * Publishers that count, in a crowded window, count before and after: of two that exceed it together, one sees both. An
 * id above the window is not left behind in a live one: whoever is about to say live looks after `settling`, and whoever
 * has taken such an id since then objects.
 */
export class Recount {
  readonly #inflight: Inflight;
  readonly #drawn: Drawn;
  readonly #views: QueueViews;

  constructor(inflight: Inflight, drawn: Drawn, views: QueueViews) {
    this.#inflight = inflight;
    this.#drawn = drawn;
    this.#views = views;
  }

  /** `view`: as it was read after the message was put inflight under this id, and before it is sent. */
  async fits(view: QueueView, packetId: PacketId): Promise<boolean> {
    if (view.standing.phase === 'live') return packetId <= view.receiveMaximum;
    if (view.standing.phase === 'crowded') return !(await this.#inflight.read(view)).isExceeded;
    // Whoever is about to say live has perhaps looked before this id was in use, and has to look again.
    const isAbove = packetId > view.receiveMaximum;
    if (isAbove && view.standing.phase === 'settling' && !(await this.#object(view))) return false;
    // A drain that finds the window full of such as this one draws nothing: their acknowledgements have to look.
    await this.#inflight.markToLook(view, packetId);
    const window = await this.#inflight.read(view);
    if (window.isExceeded) return false;
    if (await this.#drawn.renew(view.session, window.drawn.list)) return true;
    // Somebody has written it since: a drain that counted before has to count again, and what this one drew is there.
    return !(await this.#inflight.read(view)).isExceeded;
  }

  async #object(view: QueueView): Promise<boolean> {
    return await this.#views.change(view, ['settling'], 'draining');
  }
}

import { holderOf } from './copies.ts';
import type { Inflight } from './inflight.ts';
import { mayGo, type Offered, type Written, type WrittenInflight } from './offered.ts';
import { isExactlyOnce, isSameEntry, packetIdOf } from './queue-items.ts';
import type { QueueView, QueueViews } from './queue-view.ts';
import { type Item, textOf } from './values.ts';
import type { Waiting } from './waiting.ts';

interface RepetitionParts {
  readonly views: QueueViews;
  readonly inflight: Inflight;
  readonly waiting: Waiting;
}

/**
 * What becomes of a copy that has been placed before, by a fan-out that may have died before it was sent. It is where
 * it is, in one place; the question is only who sends it.
 */
export class Repetition {
  readonly #parts: RepetitionParts;

  constructor(parts: RepetitionParts) {
    this.#parts = parts;
  }

  /**
   * Where the copy is by now. Inflight before waiting: one that is drawn between the two looks is sent by whoever draws
   * it. Whether anything is to be done about one that waits is seen when its session is looked at again.
   */
  async find(offered: Offered, memory: Item | undefined): Promise<Written> {
    const view = await this.#viewOfHolder(offered, memory);
    if (view === undefined) return { offered, where: 'nowhere' };
    offered.view = view;
    const { inflight, waiting } = this.#parts;
    const { items } = await inflight.read(view);
    const found = items.find((item) => isSameEntry(item, offered.fields));
    if (found === undefined) {
      offered.isWaiting = await waiting.has(view.session, offered.entry);
      return { offered, where: offered.isWaiting ? 'waiting' : 'nowhere', isFound: true };
    }
    // After PUBREC nothing may be sent but PUBREL [MQTT-4.3.3-6], and that is the client's to ask for.
    if (!isExactlyOnce(found)) return { offered, where: 'nowhere' };
    return { offered, where: 'inflight', packetId: packetIdOf(found), found };
  }

  /**
   * The copy is inflight for a connection that is over, and the session is live on another:
   *
   *     fan-out                            CONNECT(B)
   *     reads: live on A
   *                                        open: connection := B; its drain finds nothing; live
   *     puts inflight 7 for A
   *     looks again: live on B: 7 becomes B's, and is sent there
   *
   * Under its packet id, since another fan-out of this message may have found it there and sent it to A: to a client
   * that got it, it is the same message. Where B's window is full its drain sends it, when a message that is inflight
   * there has been acknowledged. 'again': the session has changed meanwhile.
   */
  async sendHere(written: WrittenInflight, now: QueueView): Promise<'done' | 'again'> {
    const { views, inflight } = this.#parts;
    const { offered, packetId } = written;
    const window = await inflight.read(now);
    const item = window.items.find((each) => isSameEntry(each, offered.fields));
    if (item === undefined || !isExactlyOnce(item) || window.isSentHere(item)) return 'done';
    if (!window.hasRoom) {
      if (!(await views.change(now, ['live', 'crowded'], 'draining'))) return 'again';
      if (await inflight.markMoreBehind(now, window.packetIdsHere)) return 'done';
    } else if (packetId > now.receiveMaximum && !(await views.change(now, ['live', 'crowded'], 'crowded'))) {
      return 'again';
    }
    offered.view = now;
    if ((await inflight.sendAgain(now, item)).isSent) mayGo(offered, packetId, true);
    return 'done';
  }

  /** Of the session, or of the member of its share group that has the copy. Undefined when its session is over. */
  async #viewOfHolder(offered: Offered, memory: Item | undefined): Promise<QueueView | undefined> {
    const holder = textOf(memory, 'i') === undefined ? undefined : holderOf(memory, offered.view.session);
    if (holder === undefined) return offered.view;
    const [view] = await this.#parts.views.read([holder]);
    return view;
  }
}

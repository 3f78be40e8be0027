import type {
  Acknowledged,
  CompletingPacket,
  Delivery,
  Message,
  PageLimit,
  Queued,
  QueuedPublish,
  QueueLimits,
  QueueStore,
  SessionRef,
} from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import { Acknowledge } from './acknowledge.ts';
import { batchDelete } from './batch.ts';
import type { Bodies } from './bodies.ts';
import { Copies } from './copies.ts';
import { Draw } from './draw.ts';
import { Drawn } from './drawn.ts';
import { drawnListOf, entryFor, isDrawnList } from './drawn-list.ts';
import { ContentionError } from './errors.ts';
import type { FrameCache } from './frame-cache.ts';
import { Inflight } from './inflight.ts';
import type { Leavings } from './leavings.ts';
import { DECISIONS_MAX } from './limits.ts';
import { Offer } from './offer.ts';
import { bodyRefOf, compareEntries, isInflight, KIND, packetIdOf, queuedOf } from './queue-items.ts';
import { isLive, type QueueView, QueueViews } from './queue-view.ts';
import { connectionOf } from './session-ref.ts';
import { Settle } from './settle.ts';
import type { Table } from './table.ts';
import { type Item, textOf } from './values.ts';
import { Waiting } from './waiting.ts';
import type { Window } from './window.ts';

const NOTHING: readonly Queued[] = [];

/** What sessions have been promised: an item for each message that is inflight, and for each that waits. */
export class DynamoQueues implements QueueStore {
  readonly #table: Table;
  readonly #bodies: Bodies;
  readonly #leavings: Leavings;
  readonly #frame: FrameCache;
  readonly #views: QueueViews;
  readonly #copies: Copies;
  readonly #drawn: Drawn;
  readonly #waiting: Waiting;
  readonly #inflight: Inflight;
  readonly #settle: Settle;
  readonly #acknowledge: Acknowledge;

  constructor(table: Table, bodies: Bodies, leavings: Leavings, frame: FrameCache) {
    this.#table = table;
    this.#bodies = bodies;
    this.#leavings = leavings;
    this.#frame = frame;
    this.#views = new QueueViews(table);
    this.#copies = new Copies(table);
    this.#drawn = new Drawn(table, frame);
    this.#waiting = new Waiting(table, this.#views, this.#copies, this.#drawn);
    this.#inflight = new Inflight(table);
    this.#settle = new Settle(this.#views, this.#waiting, this.#inflight, this.#drawn, frame);
    this.#acknowledge = new Acknowledge(table, this.#drawn, frame);
  }

  async offer(
    message: Message,
    deliveries: readonly Delivery[],
    limits: QueueLimits,
    hold?: ReadonlySet<Delivery>,
  ): Promise<number> {
    this.#leavings.forget();
    const parts = {
      views: this.#views,
      waiting: this.#waiting,
      inflight: this.#inflight,
      settle: this.#settle,
      bodies: this.#bodies,
      copies: this.#copies,
      drawn: this.#drawn,
    };
    return await new Offer(this.#table, parts, limits).run(message, deliveries, hold);
  }

  async next(session: SessionRef, limit: PageLimit, nowMs: number): Promise<readonly Queued[]> {
    if (this.#acknowledge.takeQuiet(session)) return NOTHING;
    // The acknowledgement of what this frame has drawn comes after its reply, and looks.
    if (this.#frame.drawnTo(session.key)?.isAll === true) return NOTHING;
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      const [view] = await this.#views.read([session]);
      if (view === undefined || !isFor(view, session)) return NOTHING;
      if (view.standing.phase === 'crowded') await this.#settle.tryRegular(view);
      if (isLive(view)) return NOTHING;
      const page = await this.#draw(view, limit, nowMs);
      if (page !== undefined) return page;
    }
    throw new ContentionError('a queue', DECISIONS_MAX);
  }

  async complete(session: SessionRef, packetId: PacketId, answer?: CompletingPacket): Promise<Acknowledged> {
    return await this.#acknowledge.complete(session, packetId, answer);
  }

  async release(session: SessionRef, packetId: PacketId): Promise<Acknowledged> {
    return await this.#acknowledge.release(session, packetId);
  }

  async unacknowledged(session: SessionRef): Promise<readonly QueuedPublish[]> {
    const left = await this.#left(session);
    const packetIds = sentOf(left);
    const items = inOrder(left, packetIds);
    const refs = items.map(bodyRefOf).filter((ref) => ref !== undefined);
    const bodies = await this.#bodies.load(session.tenant, refs);
    return items.flatMap((item) => {
      const ref = bodyRefOf(item);
      const body = ref && this.#bodies.join(session.tenant, ref, bodies);
      return queuedOf(item, body, session, packetIds.get(item) ?? 0, false) ?? [];
    });
  }

  async clear(session: SessionRef): Promise<void> {
    const items = await this.#left(session);
    if (items.length === 0) return;
    await batchDelete(this.#table, items);
    this.#leavings.forget();
    await this.#views.unsettle(session);
  }

  async length(session: SessionRef): Promise<number> {
    return await this.#waiting.length(session);
  }

  /** Undefined when it came to nothing because somebody wrote meanwhile. */
  async #draw(view: QueueView, limit: PageLimit, nowMs: number): Promise<readonly Queued[] | undefined> {
    const isSettling = view.standing.phase === 'settling';
    // The page before has read what is older, and what came late is seen in a later frame: the queue drains until then.
    const after = this.#frame.drawnTo(view.session.key)?.sort;
    // Waiting before inflight: see Settle.
    const waiting = await this.#waiting.first(view.session, limit.messages + 1, after);
    const window = await this.#inflight.read(view, after === undefined ? waiting : 'all');
    const parts = {
      waiting: this.#waiting,
      inflight: this.#inflight,
      drawn: this.#drawn,
      bodies: this.#bodies,
    };
    if (!this.#mayDraw(view, window)) return NOTHING;
    const draw = new Draw(parts, view, window, this.#frame.isPushing, limit, nowMs);
    if (!(await draw.run(waiting))) return undefined;
    if (draw.isStuck && !(await this.#inflight.markMoreBehind(view, window.packetIdsHere))) return undefined;
    const hasSettled = await this.#conclude(view, draw, isSettling);
    const isPage = draw.entries.length > 0 || (draw.isSomethingLeft && !draw.isInVain);
    return hasSettled || isPage ? draw.entries : undefined;
  }

  /**
   * One page at a time. Frames of acknowledgements alone go out of turn, so several of a connection may be handled at once,
   * and beside one that wants a reply; and what they draw leaves in pushes, which a reply may overtake:
   *
   *     handler of PUBACK 1                handler of PUBACK 2, or of a fetch
   *     draws 3
   *     (is slow, or dies)
   *                                        were it to draw 4, it would post that now, or reply [MQTT-4.6.0-6]
   *     posts 3
   *
   * So acknowledgements draw nothing while anything that was drawn is unacknowledged, and a frame with a reply nothing
   * while that is true of what left in pushes. The acknowledgement for which they leave it looks again. Frames with a reply
   * come one after another, so their pages may follow each other.
   */
  #mayDraw({ session }: QueueView, window: Window): boolean {
    if (!this.#frame.isOpen || !window.isAwaited) return true;
    // What one frame draws leaves together.
    if (this.#frame.drawnTo(session.key) !== undefined) return true;
    return !this.#frame.isPushing && !window.wasPushed;
  }

  /**
   * Writes what the page has changed. True when nothing is left that may be sent now.
   *
   * What a frame draws leaves with its reply, and until that has arrived no publisher may post to the session at once:
   *
   *     handler of PUBACK                  publisher
   *     draws the last that waits
   *     says live
   *                                        posts a newer message
   *     its reply leaves, with an older one
   *
   * So the queue stays `draining`, and the acknowledgement of what was drawn, which comes after the reply, says live. What
   * another frame has drawn holds it back as well (`Settle.isHeldBack`).
   */
  async #conclude(view: QueueView, draw: Draw, isSettling: boolean): Promise<boolean> {
    this.#noteDrawn(view, draw);
    if (draw.isSomethingLeft) {
      const phase = draw.isMessageLeft ? 'draining' : 'settling';
      if (phase === view.standing.phase) await this.#views.countRemoved(view, draw.removed);
      else await this.#views.change(view, [view.standing.phase], phase, draw.removed);
      return false;
    }
    if (this.#settle.isHeldBack(draw.window) || this.#frame.drawnTo(view.session.key) !== undefined) {
      if (!isSettling) await this.#views.countRemoved(view, draw.removed);
      else await this.#views.change(view, ['settling'], 'draining', draw.removed);
      return true;
    }
    if (isSettling && draw.entries.length === 0 && draw.removed.messages === 0) {
      return await this.#settle.goLive(view, draw.window);
    }
    if (!(await this.#views.change(view, ['draining', 'settling'], 'settling', draw.removed))) return false;
    return (await this.#settle.tryOnce(view, 'drain')) === 'live';
  }

  #noteDrawn({ session }: QueueView, draw: Draw): void {
    const before = this.#frame.drawnTo(session.key);
    if (before === undefined && !draw.hasMessages) return;
    // A message that is left to be sent again may be older than any that has been drawn.
    const sort = draw.window.hasMessagesToSendAgain ? undefined : (draw.drawnTo ?? before?.sort);
    this.#frame.noteDrawn(session.key, { sort, isAll: !draw.isSomethingLeft });
  }

  async #left(session: SessionRef): Promise<Item[]> {
    return await this.#leavings.queue(this.#table, session);
  }
}

/** A frame of a connection that has been taken over draws nothing from its successor's queue. */
function isFor(view: QueueView, session: SessionRef): boolean {
  if (view.connectionId === undefined) return false;
  const asked = connectionOf(session);
  return asked === undefined || asked === view.connectionId;
}

/** The packet ids of the messages that have been sent, those of the drawn among them. */
function sentOf(left: readonly Item[]): ReadonlyMap<Item, PacketId> {
  const list = drawnListOf(left.find(isDrawnList));
  return new Map(
    left.flatMap((item) => {
      const packetId = isInflight(item) ? packetIdOf(item) : entryFor(list, item)?.packetId;
      return packetId === undefined ? [] : [[item, packetId]];
    }),
  );
}

/** Messages never acknowledged, not even by PUBREC, oldest first: those that were sent, then those that waited. */
function inOrder(left: readonly Item[], packetIds: ReadonlyMap<Item, PacketId>): Item[] {
  const messages = left.filter((item) => !isDrawnList(item));
  const sent = messages
    .filter((item) => packetIds.has(item) && !(isInflight(item) && textOf(item, 'k') === KIND.released))
    .sort(compareEntries);
  const isMoved = (item: Item) => sent.some((each) => compareEntries(each, item) === 0);
  const waiting = messages
    .filter((item) => !isInflight(item) && !packetIds.has(item) && !isMoved(item))
    .sort(compareEntries);
  return [...sent, ...waiting];
}

import type { Delivery, Message, QueueLimits } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import type { Bodies } from './bodies.ts';
import { type Copies, indexOfCopy } from './copies.ts';
import type { Drawn } from './drawn.ts';
import { ContentionError } from './errors.ts';
import type { Inflight } from './inflight.ts';
import { DECISIONS_MAX, INLINE_MESSAGE_BYTES_MAX } from './limits.ts';
import { encodeMessage } from './message-blob.ts';
import {
  connectionOf,
  inTurnForEachSession,
  mayGo,
  noteStanding,
  type Offered,
  type Written,
  type WrittenInflight,
} from './offered.ts';
import { type Entry, entryFields } from './queue-items.ts';
import { isLive, type QueueView, type QueueViews } from './queue-view.ts';
import { Recount } from './recount.ts';
import { Repetition } from './repetition.ts';
import type { Settle } from './settle.ts';
import type { Table } from './table.ts';
import type { Waiting } from './waiting.ts';

export interface OfferParts {
  readonly views: QueueViews;
  readonly waiting: Waiting;
  readonly inflight: Inflight;
  readonly settle: Settle;
  readonly bodies: Bodies;
  readonly copies: Copies;
  readonly drawn: Drawn;
}

/** Who finds the window full in one of these says draining, and sees to it that somebody looks. */
const NOT_DRAINING = ['live', 'crowded', 'settling'] as const;

/**
 * Offers one message to many sessions. Whoever writes for a session looks at it again afterwards, strongly: what it
 * had read of it may be true no more.
 *
 *     publisher                          client that is back, its drain
 *     reads: draining
 *                                        reads: nothing waits
 *                                        settling; looks again: nothing waits; live
 *     appends
 *     looks again: live: it takes the message back and sends it itself
 *
 *     publisher                          drain
 *     reads: draining
 *                                        reads: nothing waits; settling
 *     appends
 *                                        looks again: the message. It draws it.
 *     looks again: settling: it cannot know, and says draining, so that the drain cannot go live before it has looked
 *     once more.
 *
 *     publisher                          CONNECT(B)
 *     reads: live on A
 *                                        open: connection := B; its drain finds nothing; live
 *     puts inflight for A
 *     looks again: live on B: it takes the message back and sends it to B
 *
 * (A copy that others may know of, see `Copies`, is not taken back, but moved.)
 *
 * Both look after they have written, so one of them sees the other: no message is left where nobody looks for it.
 */
export class Offer {
  readonly #table: Table;
  readonly #parts: OfferParts;
  readonly #limits: QueueLimits;
  readonly #repetition: Repetition;
  readonly #recount: Recount;
  #dropped = 0;

  constructor(table: Table, parts: OfferParts, limits: QueueLimits) {
    this.#table = table;
    this.#parts = parts;
    this.#limits = limits;
    this.#repetition = new Repetition(parts);
    this.#recount = new Recount(parts.inflight, parts.drawn, parts.views);
  }

  /** Answers how many messages were dropped. */
  async run(
    message: Message,
    deliveries: readonly Delivery[],
    hold?: ReadonlySet<Delivery>,
  ): Promise<number> {
    let open = await this.#begin(message, deliveries, hold);
    for (let decisions = 0; open.length > 0; decisions += 1) {
      if (decisions === DECISIONS_MAX) throw new ContentionError('a queue', decisions);
      const written = await inTurnForEachSession(open, (offered) => this.#write(offered));
      open = await this.#lookAgain(written.filter(({ where }) => where !== 'nowhere'));
    }
    return this.#dropped;
  }

  #gaveWay(delivery: Delivery, count: number): void {
    if (count === 0) return;
    this.#dropped += count;
    delivery.dropped = (delivery.dropped ?? 0) + count;
  }

  async #begin(
    message: Message,
    deliveries: readonly Delivery[],
    hold?: ReadonlySet<Delivery>,
  ): Promise<Offered[]> {
    const views = await this.#parts.views.of(deliveries.map(({ session }) => session));
    const isWanted = views.some((view) => view !== undefined);
    const ttlSeconds = this.#table.nowSeconds() + this.#table.settings.queueSecondsMax;
    const content = isWanted ? await this.#content(message, deliveries, ttlSeconds) : undefined;
    return deliveries.flatMap((delivery, place) => {
      const view = views[place];
      // Nobody has been given it: it is the same copy for another member of the share group.
      if (view === undefined && delivery.share !== undefined) delivery.passOnAs = delivery.copy ?? '';
      if (view === undefined || content === undefined) return [];
      const index = this.#indexOf(delivery);
      const entry = { message, delivery, index, content, ttlSeconds };
      const memory = this.#parts.copies.memoryOf(message.id, index, delivery);
      const isHeld = hold?.has(delivery) === true;
      return [
        {
          entry,
          fields: entryFields(entry),
          memory,
          isHeld,
          matched: view,
          view,
          isWaiting: false,
          hasGivenWay: false,
        },
      ];
    });
  }

  /** A copy without a name is one of its own: nothing that stands there is taken for it. */
  #indexOf(delivery: Delivery): string {
    return delivery.copy === undefined ? this.#table.settings.randomId() : indexOfCopy(delivery);
  }

  /** Over 1 KB it is written once for all, before anything refers to it. */
  async #content(
    message: Message,
    deliveries: readonly Delivery[],
    ttlSeconds: number,
  ): Promise<Entry['content']> {
    const blob = encodeMessage(message);
    if (blob.length <= INLINE_MESSAGE_BYTES_MAX) return { blob };
    const tenant = deliveries[0]?.session.tenant ?? '';
    return { body: await this.#parts.bodies.store(tenant, message.id, blob, ttlSeconds) };
  }

  async #write(offered: Offered): Promise<Written> {
    const { view, isHeld } = offered;
    if (!(await this.#mayGoAtOnce(view))) {
      const written = await this.#append(offered);
      return offered.hasGivenWay ? await this.#unlessSomebodyLooks(written) : written;
    }
    if (isHeld) return await this.#appendToLive(offered, []);
    const placed = await this.#place(offered);
    return 'full' in placed ? await this.#appendToLive(offered, placed.full) : placed;
  }

  /** Puts it inflight: as the first one to do so, or from among the waiting. */
  async #place(
    offered: Offered,
    hasMoreBehind = false,
  ): Promise<Written | { readonly full: readonly PacketId[] }> {
    const { view, entry, fields, memory, isWaiting } = offered;
    const { inflight, waiting, copies } = this.#parts;
    const along = isWaiting
      ? waiting.leave(waiting.placeOf(view.session, entry))
      : memory && copies.remember(memory);
    const placed = await inflight.place(view, fields, { hasMoreBehind, along });
    if ('full' in placed) return placed;
    if ('packetId' in placed) return { offered, where: 'inflight', ...placed };
    // It waits no longer: somebody has drawn it. Or it is known, and this is a repetition.
    if (isWaiting) return { offered, where: 'nowhere' };
    return await this.#repetition.find(offered, placed.prevented);
  }

  /** Nothing waits, and no message has to be sent again. */
  async #mayGoAtOnce(view: QueueView): Promise<boolean> {
    if (view.connectionId === undefined || view.standing.phase !== 'settling') return isLive(view);
    return (await this.#parts.settle.tryOnce(view, 'publisher')) !== 'draining';
  }

  /**
   *     publisher, in one frame            client
   *     places the first message, and gathers it for a post
   *     the window is full: the second one waits
   *                                        PUBACK of an older one: draws the second, its reply leaves
   *     posts the first
   *
   * So what is gathered for the connection leaves before anything joins its queue.
   */
  async #append(offered: Offered): Promise<Written> {
    const { session, connectionId } = offered.view;
    if (connectionId !== undefined) await this.#table.settings.beforeWaiting?.(session);
    const { view, entry, memory, isWaiting } = offered;
    if (isWaiting) return { offered, where: 'waiting' };
    const appended = await this.#parts.waiting.append(view, entry, this.#limits, { memory });
    if ('known' in appended) return await this.#repetition.find(offered, appended.known);
    this.#gaveWay(entry.delivery, appended.dropped);
    if (!appended.isStored) return { offered, where: 'nowhere' };
    offered.isWaiting = memory !== undefined;
    return { offered, where: 'waiting' };
  }

  /**
   * The window is full, or the link is: from now on messages wait, and somebody has to draw them. That is the link's
   * door, or the acknowledgement of an inflight message that is told so:
   *
   *     publisher                          client
   *     the window is full: draining
   *     appends
   *                                        PUBACK of the first: its item is deleted
   *     marks the first: it is gone. Marks the second: done
   *                                        PUBACK of the second: its item says that more waits: draws
   *
   * When all are gone before they could be marked, nothing keeps the message back: it is sent after all, marked.
   */
  async #appendToLive(offered: Offered, full: readonly PacketId[]): Promise<Written> {
    const { entry, memory, isWaiting } = offered;
    if (!isWaiting && !this.#parts.waiting.fitsEmpty(entry, this.#limits)) {
      this.#gaveWay(entry.delivery, 1);
      return { offered, where: 'nowhere' };
    }
    return await (memory === undefined
      ? this.#drainAndAppend(offered, full)
      : this.#appendAndDrain(offered, full));
  }

  async #drainAndAppend(offered: Offered, full: readonly PacketId[]): Promise<Written> {
    const { view } = offered;
    const isDraining = await this.#parts.views.change(view, NOT_DRAINING, 'draining');
    const written = await this.#append(offered);
    return isDraining ? await this.#untilSomebodyLooks(written, full) : written;
  }

  /**
   * The other way round for what may be known: a queue that drains with nothing in it would wait for an acknowledgement
   * that does not come. While it is live nobody draws from it, and whoever looks at it again finds this one.
   */
  async #appendAndDrain(offered: Offered, full: readonly PacketId[]): Promise<Written> {
    const { view, isWaiting } = offered;
    const written = await this.#append(offered);
    if (written.where !== 'waiting' || (!isWaiting && written.isFound === true)) return written;
    if (!(await this.#parts.views.change(view, NOT_DRAINING, 'draining'))) return written;
    return await this.#untilSomebodyLooks(written, full);
  }

  /**
   *     publisher                          drain
   *     (its message has an id, without room for it)
   *                                        finds the window full, and that the message's acknowledgement will look
   *     takes it back, and appends it: nobody would look
   */
  async #unlessSomebodyLooks(written: Written): Promise<Written> {
    const { view } = written.offered;
    if (written.where !== 'waiting' || view.connectionId === undefined) return written;
    const window = await this.#parts.inflight.read(view);
    return window.isLookedAfter ? written : await this.#untilSomebodyLooks(written, window.packetIdsHere);
  }

  /** It waits, and these are in the window, or have been. What was drawn into it needs no mark. */
  async #untilSomebodyLooks(first: Written, full: readonly PacketId[]): Promise<Written> {
    const { inflight, waiting } = this.#parts;
    const { offered } = first;
    const { view, entry, memory, isHeld } = offered;
    let written = first;
    let packetIds = full;
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      if (isHeld || (await inflight.markMoreBehind(view, packetIds))) return written;
      const isTakenBack = memory === undefined && written.where === 'waiting';
      if (isTakenBack && !(await waiting.withdraw(view.session, entry))) return { offered, where: 'nowhere' };
      const placed = await this.#place(offered, true);
      if (!('full' in placed)) return placed;
      if (memory === undefined) written = await this.#append(offered);
      if (placed.full.length === 0) return written;
      packetIds = placed.full;
    }
    throw new ContentionError('a window', DECISIONS_MAX);
  }

  /** Answers those that have to be written anew. */
  async #lookAgain(written: readonly Written[]): Promise<Offered[]> {
    const views = await this.#parts.views.read(written.map(({ offered }) => offered.view.session));
    const again = await Promise.all(written.map((each, index) => this.#judge(each, views[index])));
    return again.filter((offered) => offered !== undefined);
  }

  /** Undefined when the copy is where it will be found, or is now. */
  async #judge(written: Written, now: QueueView | undefined): Promise<Offered | undefined> {
    const { offered } = written;
    if (now === undefined) {
      await this.#passOn(written);
      return undefined;
    }
    noteStanding(offered, now);
    if (written.where === 'inflight' && now.connectionId === connectionOf(written)) {
      // One that was found may be for another connection than the session had when it was matched.
      offered.view = now;
      if (written.found !== undefined && (await this.#endUncertain(now))) return undefined;
      const isNew = written.found === undefined;
      if (isNew && !(await this.#recount.fits(now, written.packetId)))
        return await this.#giveWay(written, now);
      mayGo(offered, written.packetId, !isNew);
      return undefined;
    }
    // A session that is offline, or is being drained, will look for it.
    if (now.connectionId === undefined || now.standing.phase === 'draining') return undefined;
    if (now.standing.phase === 'settling') {
      if (await this.#parts.views.change(now, ['settling'], 'draining')) return undefined;
      const [later] = await this.#parts.views.read([now.session]);
      return later === undefined ? undefined : await this.#judge(written, later);
    }
    if (offered.memory !== undefined) return await this.#move(written, now);
    if (!(await this.#takeBack(written))) return undefined;
    return { ...offered, view: now };
  }

  /**
   * Of a share group, when its session has ended since it was chosen:
   *
   *     publisher                          handler that ends the session
   *     reads: it is there
   *                                        removes it; passes on what is unacknowledged: nothing
   *     puts the message inflight, looks again: takes it back, and another member gets it
   *
   * What the other one has seen is gone when it has been passed on; at QoS 2 it is not, if it was inflight, as it counts as
   * sent [MQTT-4.8.2-5]. One that was found may have been sent.
   */
  async #passOn(written: Written): Promise<void> {
    const { view, entry } = written.offered;
    const isFound = written.where === 'inflight' && written.found !== undefined;
    if (entry.delivery.share === undefined || isFound || !(await this.#takeBack(written))) return;
    Object.assign(entry.delivery, { session: view.session, passOnAs: view.session.incarnation });
  }

  /**
   * The copy is there, and not answered. Who put it there may have died before it was sent, or be about to send it: a
   * second PUBLISH behind the client's PUBCOMP would be another message to it [MQTT-4.4.0-1].
   */
  async #endUncertain({ session }: QueueView): Promise<boolean> {
    return (await this.#table.settings.endUncertain?.(session)) ?? false;
  }

  /** The session is live, and the copy is not where its connection would find it. */
  async #move(written: Written, now: QueueView): Promise<Offered | undefined> {
    if (written.where !== 'inflight')
      return written.where === 'waiting' ? { ...written.offered, view: now } : undefined;
    if ((await this.#repetition.sendHere(written, now)) === 'done') return undefined;
    const [later] = await this.#parts.views.read([now.session]);
    return await this.#judge(written, later);
  }

  /**
   * There is no room for it in the window, although it has an id. What nobody may know of is taken back, and written
   * anew; a copy with a memory goes from there to the waiting, which is one step as well.
   */
  async #giveWay(written: WrittenInflight, now: QueueView): Promise<Offered | undefined> {
    const { offered, packetId } = written;
    const { entry, fields, memory } = offered;
    if (memory === undefined)
      return (await this.#takeBack(written)) ? { ...offered, view: now, hasGivenWay: true } : undefined;
    const { inflight, waiting } = this.#parts;
    await this.#table.settings.beforeWaiting?.(now.session);
    const leaving = inflight.leave(now, packetId, fields);
    const appended = await waiting.append(now, entry, this.#limits, { leaving });
    // It is not there any more: it has been sent to another connection.
    if ('known' in appended) return undefined;
    this.#gaveWay(entry.delivery, appended.dropped);
    if (appended.isStored) return { ...offered, view: now, isWaiting: true, hasGivenWay: true };
    await inflight.withdraw(now, packetId, fields);
    return undefined;
  }

  async #takeBack(written: Written): Promise<boolean> {
    const { view, entry, fields } = written.offered;
    if (written.where === 'waiting') return await this.#parts.waiting.withdraw(view.session, entry);
    return (
      written.where === 'inflight' && (await this.#parts.inflight.withdraw(view, written.packetId, fields))
    );
  }
}

import type { SessionRef } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import { type DrawnList, drawnListOf, isDrawnList } from './drawn-list.ts';
import { OWNED, ownedPartition } from './keys.ts';
import { PROBES_MAX } from './limits.ts';
import {
  indexOf,
  inflightKey,
  isCopyOf,
  isInflight,
  KIND,
  packetIdOf,
  waitingSortOf,
} from './queue-items.ts';
import type { QueueView } from './queue-view.ts';
import { endOf, type QueryPage, type Table } from './table.ts';
import { type Action, transact } from './transaction.ts';
import { type Item, number, text, textOf } from './values.ts';
import { type DrawnWindow, firstId, Window } from './window.ts';

/**
 * Put inflight under this id; or the window is full, and these are in it; or what was to be written along with it could
 * not be, as this stands there, or nothing does.
 */
export type Placed =
  | { readonly packetId: PacketId }
  | { readonly full: readonly Item[] }
  | { readonly prevented: Item | undefined };

/** What waits, read from the beginning. */
export type WaitingRead = QueryPage;

/** What became of one packet id. */
type Drawn =
  | { readonly outcome: 'drawn' }
  | { readonly outcome: 'in-use'; readonly there: Item }
  | { readonly outcome: 'prevented'; readonly there: Item | undefined };

/** How a message is put inflight. */
export interface PlaceOptions {
  /** More waits behind it: its acknowledgement looks. @default false */
  readonly hasMoreBehind?: boolean;
  /**
   * Written with it or not at all: the memory of a copy, or that it waits no longer. It makes the write a transaction.
   * @default nothing
   */
  readonly along?: Action | undefined;
}

/**
 * What has been sent and not completed: an item for each packet id. A put that is conditional on the id being free
 * draws it, so that the id space is the window and nobody counts.
 *
 *     publisher P                        publisher Q               (Receive Maximum 1)
 *     put id 1: free
 *                                        put id 1: in use, the window is full: wait
 */
export class Inflight {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * The window, and what of the drawn is there still: what waits says so, where it has just been read. 'all': within
   * the frame that has drawn them nobody has acknowledged them, and none is being drawn.
   */
  async read(view: QueueView, waiting?: WaitingRead | 'all'): Promise<Window> {
    const p = ownedPartition(view.session);
    const items = await this.#table.queryAll({ p, from: OWNED.inflight, to: endOf(OWNED.inflight) });
    const list = drawnListOf(items.find(isDrawnList));
    const inflight = items.filter(isInflight);
    return new Window(view, inflight, await this.#drawnOf(view, list, inflight, waiting));
  }

  async #drawnOf(
    view: QueueView,
    list: DrawnList | undefined,
    inflight: readonly Item[],
    waiting: WaitingRead | 'all' | undefined,
  ): Promise<DrawnWindow> {
    const isHere = list?.connectionId === view.connectionId;
    const entries = list === undefined ? [] : [...list.sent, ...list.unsent];
    const named = list !== undefined && isHere ? list.moving : [];
    const sorts = [...entries.map(({ sort }) => sort), ...named];
    if (list === undefined || sorts.length === 0) return { list, here: [], elsewhere: [], moving: [] };
    if (waiting === 'all' && isHere && list.unsent.length === 0)
      return { list, here: list.sent, elsewhere: [], moving: [] };
    const there = await this.#thereOf(view.session, sorts, waiting === 'all' ? undefined : waiting);
    const here = isHere ? list.sent.filter(({ sort }) => there.has(sort)) : [];
    const elsewhere = (isHere ? list.unsent : entries).flatMap((entry) => {
      const item = there.get(entry.sort);
      return item === undefined ? [] : [{ entry, item }];
    });
    const unsent = inflight.filter((item) => isUnsent(view, item)).map(waitingSortOf);
    const moving = named.filter((sort) => there.has(sort) || unsent.includes(sort));
    return { list, here, elsewhere, moving };
  }

  /** Of what the list names, what is there still, by sort key. */
  async #thereOf(
    session: SessionRef,
    named: readonly string[],
    waiting: WaitingRead | undefined,
  ): Promise<ReadonlyMap<string, Item>> {
    const sorts = [...named].sort();
    const [from = '', to = ''] = [sorts[0], sorts.at(-1)];
    const isRead = waiting !== undefined && (waiting.next === undefined || waiting.next >= to);
    const items = isRead
      ? waiting.items
      : await this.#table.queryAll({ p: ownedPartition(session), from, to });
    return new Map(items.map((item) => [textOf(item, 's') ?? '', item]));
  }

  /** Puts a message inflight on a live connection. `fields` are those of both kinds of items. */
  async place(view: QueueView, fields: Item, options: PlaceOptions = {}): Promise<Placed> {
    if (view.standing.phase !== 'live') return await this.#placeCounted(view, fields, options);
    const seen = new Map<PacketId, Item>();
    const probes = Math.min(PROBES_MAX, view.receiveMaximum);
    for (let probe = 0; probe < probes; probe += 1) {
      const packetId = firstId(fields, view.receiveMaximum, probe);
      const drawn = await this.put(view, packetId, fields, options);
      if (drawn.outcome === 'drawn') return { packetId };
      if (drawn.outcome === 'prevented') return { prevented: drawn.there };
      if (isCopyOf(drawn.there, fields)) return { packetId };
      seen.set(packetId, drawn.there);
    }
    if (seen.size >= view.receiveMaximum) return { full: [...seen.values()] };
    return await this.#placeCounted(view, fields, options);
  }

  /** Draws the id. */
  async put(view: QueueView, packetId: PacketId, fields: Item, options: PlaceOptions): Promise<Drawn> {
    const { hasMoreBehind = false, along } = options;
    const key = inflightKey(view.session, packetId);
    const isFree = 'attribute_not_exists(p)';
    const hasExpired = 't <= :now';
    const item: Item = {
      ...fields,
      p: text(key.p),
      s: text(key.s),
      c: text(view.connectionId ?? ''),
      w: number(1),
      ...(hasMoreBehind && { f: number(1) }),
    };
    const condition = `${isFree} OR ${hasExpired}`;
    const values = { ':now': number(this.#table.nowSeconds()) };
    if (along !== undefined) return await this.#putAlong(along, { put: item, condition, values });
    const { ok, old, isRetry } = await this.#table.put(item, { condition, values });
    // An attempt whose answer was lost has drawn the id: this very message stands there, for this very connection.
    const isOwn =
      isRetry && old !== undefined && isCopyOf(old, item) && textOf(old, 'c') === view.connectionId;
    return ok || isOwn ? { outcome: 'drawn' } : { outcome: 'in-use', there: old ?? item };
  }

  /** To be sent again on this connection. False when it has been answered or sent by another meanwhile. */
  async sendAgain(view: QueueView, item: Item): Promise<boolean> {
    const isSame = 'm = :message AND ix = :index';
    const isAsSeen = 'k = :kind';
    const isElsewhere = 'c <> :connection';
    const takesPlace = textOf(item, 'k') !== KIND.released;
    const { ok, old, isRetry } = await this.#table.update(
      inflightKey(view.session, packetIdOf(item)),
      'SET c = :connection, w = :place, f = :more',
      {
        condition: `${isSame} AND ${isAsSeen} AND ${isElsewhere}`,
        values: {
          ':connection': text(view.connectionId ?? ''),
          ':message': text(textOf(item, 'm') ?? ''),
          ':index': text(indexOf(item)),
          ':kind': text(textOf(item, 'k') ?? ''),
          ':place': number(takesPlace ? 1 : 0),
          ':more': number(1),
        },
      },
    );
    return ok || (isRetry && textOf(old, 'c') === view.connectionId);
  }

  /** Takes a message back that was put on a connection which is not there any more. False when it was sent again. */
  async withdraw(view: QueueView, packetId: PacketId, fields: Item): Promise<boolean> {
    const isSame = 'm = :message';
    const isHere = 'c = :connection';
    const { ok, isRetry } = await this.#table.delete(inflightKey(view.session, packetId), {
      condition: `${isSame} AND ${isHere}`,
      values: { ':message': text(textOf(fields, 'm') ?? ''), ':connection': text(view.connectionId ?? '') },
    });
    return ok || isRetry;
  }

  /** Says on one of these that more waits: its acknowledgement then looks. False when all of them are done with. */
  async markMoreBehind(view: QueueView, items: readonly Item[]): Promise<boolean> {
    const isHere = 'c = :connection';
    for (const item of items) {
      const { ok } = await this.#table.update(inflightKey(view.session, packetIdOf(item)), 'SET f = :more', {
        condition: isHere,
        values: { ':connection': text(view.connectionId ?? ''), ':more': number(1) },
      });
      if (ok) return true;
    }
    return false;
  }

  async delete(session: SessionRef, packetId: PacketId): Promise<void> {
    await this.#table.delete(inflightKey(session, packetId));
  }

  /** The reason why it was prevented comes before the id: whoever may not place the message needs none. */
  async #putAlong(along: Action, put: Action): Promise<Drawn> {
    const transacted = await transact(this.#table, [along, put]);
    if (transacted.ok) return { outcome: 'drawn' };
    const { failed } = transacted;
    if (failed.has(0)) return { outcome: 'prevented', there: failed.get(0) };
    return { outcome: 'in-use', there: failed.get(1) ?? ('put' in put ? put.put : {}) };
  }

  async #placeCounted(view: QueueView, fields: Item, options: PlaceOptions): Promise<Placed> {
    const window = await this.read(view);
    // Where something is written along, that decides whether it is a repetition.
    const same = options.along === undefined ? samePacketId(window, fields) : undefined;
    if (same !== undefined) return { packetId: same };
    while (window.hasRoom) {
      const packetId = window.freeId(fields);
      // Ids above the window are only for what an earlier connection left crowded.
      if (packetId === undefined || (view.standing.phase === 'live' && packetId > view.receiveMaximum)) break;
      const drawn = await this.put(view, packetId, fields, options);
      if (drawn.outcome === 'drawn') return { packetId };
      if (drawn.outcome === 'prevented') return { prevented: drawn.there };
      window.use(packetId);
      window.takePlace();
    }
    return { full: window.items.filter((item) => window.isSentHere(item)) };
  }
}

/** It has been sent on an earlier connection only, and not been answered. */
function isUnsent(view: QueueView, item: Item): boolean {
  return textOf(item, 'c') !== view.connectionId && textOf(item, 'k') !== KIND.released;
}

/** Of the same message where it has been sent on this connection and not been acknowledged. */
function samePacketId(window: Window, fields: Item): PacketId | undefined {
  const same = window.items.find((item) => isCopyOf(item, fields) && window.isSentHere(item));
  if (same !== undefined) return packetIdOf(same);
  return window.drawn.here.find(({ sort }) => sort === waitingSortOf(fields))?.packetId;
}

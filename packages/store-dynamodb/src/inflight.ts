import type { SessionRef } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import { PROBES_MAX } from './limits.ts';
import {
  indexOf,
  inflightKey,
  isCopyOf,
  isSameEntry,
  KIND,
  LOOK,
  packetIdOf,
  waitingSortOf,
} from './queue-items.ts';
import type { QueueView } from './queue-view.ts';
import { readWindow, type WaitingRead } from './read-window.ts';
import type { Table } from './table.ts';
import { type Action, type Removal, transact } from './transaction.ts';
import { type Item, number, text, textOf } from './values.ts';
import { firstId, type Window } from './window.ts';

/**
 * Put inflight under this id, or found there, as it stands, where an earlier offer has put it; or the window is full, and these ids are in it; or what was to be written along with it could
 * not be, as this stands there, or nothing does.
 */
export type Placed =
  | { readonly packetId: PacketId; readonly found?: Item }
  | { readonly full: readonly PacketId[] }
  | { readonly prevented: Item | undefined };

/** What became of one packet id. */
type Drawn =
  | { readonly outcome: 'drawn' }
  | { readonly outcome: 'in-use'; readonly there: Item }
  | { readonly outcome: 'prevented'; readonly there: Item | undefined };

/** What became of what was to be sent again. */
export interface SentAgain {
  readonly isSent: boolean;
  /** It was a message, and its PUBREC has come meanwhile, on an earlier connection: its item as it stands there. */
  readonly released?: Item | undefined;
}

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

  /** See `readWindow`. */
  async read(view: QueueView, waiting?: WaitingRead | 'all'): Promise<Window> {
    return await readWindow(this.#table, view, waiting);
  }

  /** Puts a message inflight on a live connection. `fields` are those of both kinds of items. */
  async place(view: QueueView, fields: Item, options: PlaceOptions = {}): Promise<Placed> {
    if (view.standing.phase !== 'live') return await this.#placeCounted(view, fields, options);
    const seen = new Set<PacketId>();
    const probes = Math.min(PROBES_MAX, view.receiveMaximum);
    for (let probe = 0; probe < probes; probe += 1) {
      const packetId = firstId(fields, view.receiveMaximum, probe);
      const drawn = await this.put(view, packetId, fields, options);
      if (drawn.outcome === 'drawn') return { packetId };
      if (drawn.outcome === 'prevented') return { prevented: drawn.there };
      if (isCopyOf(drawn.there, fields)) return { packetId, found: drawn.there };
      seen.add(packetId);
    }
    if (seen.size >= view.receiveMaximum) return { full: [...seen] };
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
      ...(hasMoreBehind && { f: number(LOOK.moreBehind) }),
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

  /** To be sent again on this connection, unless it has been answered or sent by another meanwhile. */
  async sendAgain(view: QueueView, item: Item): Promise<SentAgain> {
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
          ':more': number(LOOK.moreBehind),
        },
      },
    );
    if (ok || (isRetry && textOf(old, 'c') === view.connectionId)) return { isSent: true };
    const isSameElsewhere =
      old !== undefined && isSameEntry(old, item) && textOf(old, 'c') !== view.connectionId;
    const isReleased = takesPlace && isSameElsewhere && textOf(old, 'k') === KIND.released;
    return { isSent: false, released: isReleased ? old : undefined };
  }

  /** Takes a message back that was put on a connection which is not there any more. False when it was sent again. */
  async withdraw(view: QueueView, packetId: PacketId, fields: Item): Promise<boolean> {
    const { delete: key, ...condition } = this.leave(view, packetId, fields);
    const { ok, isRetry } = await this.#table.delete(key, condition);
    return ok || isRetry;
  }

  /** Says on one of these that more waits: its acknowledgement then looks. False when all of them are done with. */
  async markMoreBehind(view: QueueView, packetIds: readonly PacketId[]): Promise<boolean> {
    for (const packetId of packetIds)
      if (await this.#mark(view, packetId, 'f = :look', LOOK.moreBehind)) return true;
    return false;
  }

  /** The same on this message, to be sent once more. False when it is done with: its id may be another one's by now. */
  async markAgain(view: QueueView, item: Item): Promise<boolean> {
    return await this.#mark(view, packetIdOf(item), 'f = :look', LOOK.moreBehind, textOf(item, 'm'));
  }

  /** Its acknowledgement looks whether anything waits, which it need not. False when it is not there any more. */
  async markToLook(view: QueueView, packetId: PacketId): Promise<boolean> {
    return await this.#mark(view, packetId, 'f = if_not_exists(f, :look)', LOOK.inCase);
  }

  /** That it is inflight no longer: to be written along with where it goes instead, on a connection that has not got it. */
  leave({ session, connectionId }: QueueView, packetId: PacketId, fields: Item): Removal {
    const isSame = 'm = :message';
    const isHere = 'c = :connection';
    return {
      delete: inflightKey(session, packetId),
      condition: `${isSame} AND ${isHere}`,
      values: { ':message': text(textOf(fields, 'm') ?? ''), ':connection': text(connectionId ?? '') },
    };
  }

  /** Its body is gone, so there is nothing to send. Its id may be another one's by now. */
  async forget(session: SessionRef, item: Item): Promise<void> {
    const isSame = 'm = :message';
    await this.#table.delete(inflightKey(session, packetIdOf(item)), {
      condition: isSame,
      values: { ':message': text(textOf(item, 'm') ?? '') },
    });
  }

  async #mark(
    view: QueueView,
    packetId: PacketId,
    change: string,
    look: number,
    message?: string,
  ): Promise<boolean> {
    const isHere = 'c = :connection';
    const isSame = message === undefined ? '' : ' AND m = :message';
    const { ok } = await this.#table.update(inflightKey(view.session, packetId), `SET ${change}`, {
      condition: `${isHere}${isSame}`,
      values: {
        ':connection': text(view.connectionId ?? ''),
        ':look': number(look),
        ...(message !== undefined && { ':message': text(message) }),
      },
    });
    return ok;
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
    if (options.along === undefined) {
      const found = window.items.find((item) => isCopyOf(item, fields) && window.isSentHere(item));
      if (found !== undefined) return { packetId: packetIdOf(found), found };
      // A reply brings it.
      if (window.drawn.here.some(({ sort }) => sort === waitingSortOf(fields)))
        return { prevented: undefined };
    }
    const inUse: PacketId[] = [];
    while (window.hasRoom) {
      const packetId = window.freeId(fields);
      // Ids above the window are only for what an earlier connection left crowded.
      if (packetId === undefined || (view.standing.phase === 'live' && packetId > view.receiveMaximum)) break;
      const drawn = await this.put(view, packetId, fields, options);
      if (drawn.outcome === 'drawn') return { packetId };
      if (drawn.outcome === 'prevented') return { prevented: drawn.there };
      window.use(packetId);
      window.takePlace();
      inUse.push(packetId);
    }
    return { full: [...window.packetIdsHere, ...inUse] };
  }
}

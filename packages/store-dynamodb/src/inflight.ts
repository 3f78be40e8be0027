import { KEPT_PACKET_ID_MAX, type SessionRef } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import { OWNED, ownedPartition } from './keys.ts';
import { PROBES_MAX } from './limits.ts';
import { inflightKey, isCompleted, isCopyOf, isSameEntry, packetIdOf } from './queue-items.ts';
import type { QueueView } from './queue-view.ts';
import { endOf, type Table } from './table.ts';
import { type Item, number, numberOf, text, textOf } from './values.ts';

/** Put inflight under this id; or complete already; or the window is full, and these are in it. */
export type Placed =
  | { readonly packetId: PacketId }
  | { readonly full: readonly Item[] }
  | { readonly isCompleted: true };

/** The window of a session as it was read. */
export class Window {
  readonly items: readonly Item[];
  readonly #used: Set<PacketId>;
  #room: number;
  readonly #view: QueueView;

  constructor(view: QueueView, items: readonly Item[]) {
    this.#view = view;
    this.items = items;
    this.#used = new Set(items.map(packetIdOf));
    const counted = items.filter((item) => this.isSentHere(item) && numberOf(item, 'w') === 1);
    this.#room = view.receiveMaximum - counted.length;
  }

  /** A PUBREL that was sent again holds its id without a place in the window: the ids can run out first. */
  get hasRoom(): boolean {
    return this.#room > 0 && this.#used.size < KEPT_PACKET_ID_MAX;
  }

  /** Whether packet ids 1 to Receive Maximum are the window: nothing else is in use. */
  get isRegular(): boolean {
    return this.items.every(
      (item) =>
        this.isSentHere(item) && numberOf(item, 'w') === 1 && packetIdOf(item) <= this.#view.receiveMaximum,
    );
  }

  get hasMessagesToSendAgain(): boolean {
    return this.items.some((item) => !this.isSentHere(item) && textOf(item, 'k') !== 'r');
  }

  get hasPubrelsToSendAgain(): boolean {
    return this.items.some((item) => !this.isSentHere(item) && textOf(item, 'k') === 'r');
  }

  isSentHere(item: Item): boolean {
    return textOf(item, 'c') === this.#view.connectionId;
  }

  takePlace(): void {
    this.#room -= 1;
  }

  /** The id is in use although it was not read. */
  use(packetId: PacketId): void {
    this.#used.add(packetId);
  }

  /** A free id for this message, in the window while that has one: the first is ever the same, see `firstId`. */
  freeId(fields: Item): PacketId | undefined {
    const { receiveMaximum } = this.#view;
    for (let step = 0; step < receiveMaximum; step += 1) {
      const packetId = firstId(fields, receiveMaximum, step);
      if (!this.#used.has(packetId)) return packetId;
    }
    for (let packetId = receiveMaximum + 1; packetId <= KEPT_PACKET_ID_MAX; packetId += 1) {
      if (!this.#used.has(packetId)) return packetId;
    }
    return undefined;
  }
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

  async read(view: QueueView): Promise<Window> {
    const p = ownedPartition(view.session);
    const items = await this.#table.queryAll({ p, from: OWNED.inflight, to: endOf(OWNED.inflight) });
    return new Window(
      view,
      items.filter((item) => !isCompleted(item)),
    );
  }

  /** Puts a message inflight on a live connection. `fields` are those of both kinds of items. */
  async place(view: QueueView, fields: Item, hasMoreBehind = false): Promise<Placed> {
    if (view.standing.phase !== 'live') return await this.#placeCounted(view, fields, hasMoreBehind);
    const seen = new Map<PacketId, Item>();
    const probes = Math.min(PROBES_MAX, view.receiveMaximum);
    for (let probe = 0; probe < probes; probe += 1) {
      const packetId = firstId(fields, view.receiveMaximum, probe);
      const there = await this.put(view, packetId, fields, hasMoreBehind);
      if (there === undefined) return { packetId };
      if (isSameEntry(there, fields) && isCompleted(there)) return { isCompleted: true };
      if (isCopyOf(there, fields)) return { packetId };
      seen.set(packetId, there);
    }
    if (seen.size >= view.receiveMaximum) return { full: [...seen.values()] };
    return await this.#placeCounted(view, fields, hasMoreBehind);
  }

  /** Draws the id. Undefined when that succeeded, else what holds it. */
  async put(
    view: QueueView,
    packetId: PacketId,
    fields: Item,
    hasMoreBehind: boolean,
  ): Promise<Item | undefined> {
    const key = inflightKey(view.session, packetId);
    const isFree = 'attribute_not_exists(p)';
    const hasExpired = 't <= :now';
    const isAnotherCompleted = '(k = :completed AND NOT (m = :message AND ix = :index))';
    const item: Item = {
      ...fields,
      p: text(key.p),
      s: text(key.s),
      c: text(view.connectionId ?? ''),
      w: number(1),
      ...(hasMoreBehind && { f: number(1) }),
    };
    const { ok, old, isRetry } = await this.#table.put(item, {
      condition: `${isFree} OR ${hasExpired} OR ${isAnotherCompleted}`,
      values: {
        ':now': number(this.#table.nowSeconds()),
        ':completed': text('d'),
        ':message': text(textOf(fields, 'm') ?? ''),
        ':index': number(numberOf(fields, 'ix') ?? 0),
      },
    });
    // An attempt whose answer was lost has drawn the id: this very message stands there, for this very connection.
    const isOwn =
      isRetry && old !== undefined && isCopyOf(old, item) && textOf(old, 'c') === view.connectionId;
    return ok || isOwn ? undefined : (old ?? item);
  }

  /** To be sent again on this connection. False when it has been completed or sent by another meanwhile. */
  async sendAgain(view: QueueView, item: Item): Promise<boolean> {
    const isSame = 'm = :message';
    const isElsewhere = 'c <> :connection';
    const takesPlace = textOf(item, 'k') !== 'r';
    const { ok, isRetry } = await this.#table.update(
      inflightKey(view.session, packetIdOf(item)),
      'SET c = :connection, w = :place, f = :more',
      {
        condition: `${isSame} AND ${isElsewhere}`,
        values: {
          ':connection': text(view.connectionId ?? ''),
          ':message': text(textOf(item, 'm') ?? ''),
          ':place': number(takesPlace ? 1 : 0),
          ':more': number(1),
        },
      },
    );
    return ok || isRetry;
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

  async #placeCounted(view: QueueView, fields: Item, hasMoreBehind: boolean): Promise<Placed> {
    const window = await this.read(view);
    const same = window.items.find((item) => isCopyOf(item, fields) && window.isSentHere(item));
    if (same !== undefined) return { packetId: packetIdOf(same) };
    while (window.hasRoom) {
      const packetId = window.freeId(fields);
      // Ids above the window are only for what an earlier connection left crowded.
      if (packetId === undefined || (view.standing.phase === 'live' && packetId > view.receiveMaximum)) break;
      const there = await this.put(view, packetId, fields, hasMoreBehind);
      if (there === undefined) return { packetId };
      if (isSameEntry(there, fields) && isCompleted(there)) return { isCompleted: true };
      window.use(packetId);
      window.takePlace();
    }
    return { full: window.items.filter((item) => window.isSentHere(item)) };
  }
}

/** The same ids in the same order for the same message: a fan-out that is repeated meets its first copy. */
function firstId(fields: Item, receiveMaximum: number, probe: number): PacketId {
  const id = textOf(fields, 'm') ?? '';
  let hash = numberOf(fields, 'ix') ?? 0;
  for (let index = 0; index < id.length; index += 1) hash = (Math.imul(hash, 31) + id.charCodeAt(index)) | 0;
  return (((hash >>> 0) + probe) % receiveMaximum) + 1;
}

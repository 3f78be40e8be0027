import { messageBytes, type QueueLimits, type SessionRef } from '@apus/broker';
import type { Copies } from './copies.ts';
import type { Drawn } from './drawn.ts';
import { entryFor, isMoving } from './drawn-list.ts';
import { ContentionError } from './errors.ts';
import { OWNED, ownedPartition } from './keys.ts';
import { DECISIONS_MAX } from './limits.ts';
import { type Entry, entryFields, sizeOfEntry, waitingKey } from './queue-items.ts';
import type { QueueView, QueueViews } from './queue-view.ts';
import { endOf, type QueryPage, type Table } from './table.ts';
import { type Action, type Removal, transact } from './transaction.ts';
import { type Item, number, numberOf, text, textOf } from './values.ts';

/** Oldest messages that are read at a time to make room. */
const DROPS_READ = 8;

/**
 * Of an item's nonce: it tells one from another only that had the same key, of the same message, and the list of the drawn
 * holds one for each entry.
 */
const NONCE_CHARACTERS = 3;

/** What came of a message that was to wait: how many gave way for it, or what was known of it before. */
export type Appended =
  | { readonly isStored: boolean; readonly dropped: number }
  | { readonly known: Item | undefined };

/** What is written along with a message that is to wait, or neither is. */
export interface Along {
  /** By which it is known when it comes again: it is stored once, however often that is. */
  readonly memory?: Item | undefined;
  /** That it is inflight no longer. */
  readonly leaving?: Action;
}

/** The messages that wait for a session, in the order of their ids. */
export class Waiting {
  readonly #table: Table;
  readonly #views: QueueViews;
  readonly #copies: Copies;
  readonly #drawn: Drawn;

  constructor(table: Table, views: QueueViews, copies: Copies, drawn: Drawn) {
    this.#drawn = drawn;
    this.#table = table;
    this.#views = views;
    this.#copies = copies;
  }

  async first(session: SessionRef, limit: number, after?: string): Promise<QueryPage> {
    return await this.#table.query({ ...rangeOf(session), limit, after });
  }

  /** How many wait: all that ever did, less what has left. Exact but for what happens at the same moment. */
  async length(session: SessionRef): Promise<number> {
    const last = await this.#last(session);
    if (last === undefined) return 0;
    const [view] = await this.#views.read([session]);
    const length = (numberOf(last, 'n') ?? 0) - (view?.standing.removed ?? 0);
    // The last one is there: it has not been counted right, or has been drawn and is not acknowledged.
    return length > 0 || entryFor(await this.#drawn.read(session), last) ? Math.max(0, length) : 1;
  }

  /** Whether a message fits a queue at all. */
  fitsEmpty({ message }: Entry, { queueLengthMax, queueBytesMax }: QueueLimits): boolean {
    return queueLengthMax > 0 && messageBytes(message) <= queueBytesMax;
  }

  /**
   * Lets a message wait, and something give way where the queue is full. Answers how many messages did; `isStored`
   * says whether the new one is not among them.
   *
   * How full the queue is nobody counts: each entry says how many had come with it, the session how many have left.
   * Two that come at once may take the same number, so that the queue holds one more than it says; when it is empty
   * the count begins anew. An exact count would cost a second write for each message.
   */
  async append(view: QueueView, entry: Entry, limits: QueueLimits, along: Along): Promise<Appended> {
    const { memory } = along;
    const { standing } = view;
    const last = await this.#last(view.session);
    // The last one that is there may have been drawn, and others behind it may have been acknowledged.
    const came = Math.max(numberOf(last, 'n') ?? 0, standing.removed);
    const cameBytes = Math.max(numberOf(last, 'cb') ?? 0, standing.removedBytes);
    const size = messageBytes(entry.message);
    const excess = {
      messages: came - standing.removed + 1 - limits.queueLengthMax,
      bytes: cameBytes - standing.removedBytes + size - limits.queueBytesMax,
    };
    let dropped = 0;
    if (excess.messages > 0 || excess.bytes > 0) {
      // For what is here already nothing gives way.
      const known = memory && (await this.#copies.find(memory));
      if (known !== undefined) return { known };
      if (limits.whenFull === 'drop-newest' || !this.fitsEmpty(entry, limits))
        return { isStored: false, dropped: 1 };
      dropped = await this.#dropOldest(view, excess);
    }
    const key = waitingKey(view.session, entry);
    const item: Item = {
      p: text(key.p),
      s: text(key.s),
      ...entryFields(entry),
      n: number(came + 1),
      cb: number(cameBytes + size),
      u: text(this.#table.settings.randomId().slice(-NONCE_CHARACTERS)),
    };
    const put = await this.#put(item, along);
    if (put.isNew) await this.#countLate(item, last);
    return 'known' in put ? { known: put.known } : { isStored: true, dropped };
  }

  /** That it waits no longer: to be written along with its packet id. */
  leave(item: Item): Removal {
    const nonce = textOf(item, 'u');
    const isThere = 'attribute_exists(p)';
    const isTheSame = 'u = :nonce';
    return {
      delete: { p: textOf(item, 'p') ?? '', s: textOf(item, 's') ?? '' },
      condition: nonce === undefined ? isThere : isTheSame,
      ...(nonce !== undefined && { values: { ':nonce': text(nonce) } }),
    };
  }

  /** True for the one who takes it away. */
  async take(item: Item): Promise<boolean> {
    const { delete: key, ...condition } = this.leave(item);
    const { ok, isRetry } = await this.#table.delete(key, condition);
    return ok || isRetry;
  }

  /**
   * Takes an entry back that its publisher has put. False when somebody has drawn it. What is drawn stays where it is,
   * so the list of the drawn is written along, as it was:
   *
   *     publisher                          drain
   *                                        reads: the message waits
   *     takes it back, the list is new
   *                                        writes the list: fails, it is not as it was seen; looks again: nothing
   */
  async withdraw(session: SessionRef, entry: Entry): Promise<boolean> {
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      const list = await this.#drawn.read(session);
      const item = await this.#table.get(waitingKey(session, entry));
      if (item === undefined || entryFor(list, item)) return false;
      const actions = [this.leave(item), this.#drawn.touch(session, list)];
      if ((await transact(this.#table, actions)).ok) return true;
    }
    throw new ContentionError('a queue', DECISIONS_MAX);
  }

  async has(session: SessionRef, entry: Entry): Promise<boolean> {
    return (await this.#table.get(waitingKey(session, entry))) !== undefined;
  }

  /** The key of the item of an entry that waits. */
  placeOf(session: SessionRef, entry: Entry): Item {
    const { p, s } = waitingKey(session, entry);
    return { p: text(p), s: text(s) };
  }

  /** A retry, or a repeated fan-out under the same message id, finds that it waits already, or that it is known. */
  async #put(
    item: Item,
    { memory, leaving }: Along,
  ): Promise<{ isNew: boolean } | { isNew: false; known: Item | undefined }> {
    const isNew = 'attribute_not_exists(p)';
    const along = memory === undefined ? leaving : this.#copies.remember(memory);
    if (along === undefined) return { isNew: (await this.#table.put(item, { condition: isNew })).ok };
    const transacted = await transact(this.#table, [along, { put: item, condition: isNew }]);
    if (transacted.ok) return { isNew: true };
    return { isNew: false, known: transacted.failed.get(0) };
  }

  /** One that came late, before the last: whoever comes next asks that one for the number. */
  async #countLate(item: Item, last: Item | undefined): Promise<void> {
    const [sort = '', lastSort] = [textOf(item, 's'), textOf(last, 's')];
    if (lastSort === undefined || lastSort <= sort) return;
    const isThere = 'attribute_exists(p)';
    await this.#table.update({ p: textOf(item, 'p') ?? '', s: lastSort }, 'ADD n :one, cb :bytes', {
      condition: isThere,
      values: { ':one': number(1), ':bytes': number(sizeOfEntry(item)) },
    });
  }

  async #last(session: SessionRef): Promise<Item | undefined> {
    const { items } = await this.#table.query({ ...rangeOf(session), limit: 1, isBackward: true });
    return items[0];
  }

  /** Drops from the front until the new one fits. Of two that drop at once, each counts what it took itself. */
  async #dropOldest(view: QueueView, excess: { messages: number; bytes: number }): Promise<number> {
    const removed = { messages: 0, bytes: 0 };
    let after: string | undefined;
    // What has been drawn is not in the queue any more.
    const list = await this.#drawn.read(view.session);
    const { sent, unsent, moving } = list ?? { sent: [], unsent: [], moving: [] };
    const limit = DROPS_READ + sent.length + unsent.length + moving.length;
    do {
      const page = await this.first(view.session, limit, after);
      for (const item of page.items) {
        if (removed.messages >= excess.messages && removed.bytes >= excess.bytes) break;
        const isTaken = entryFor(list, item) !== undefined || isMoving(list, view.connectionId, item);
        if (isTaken || !(await this.take(item))) continue;
        removed.messages += 1;
        removed.bytes += sizeOfEntry(item);
      }
      after = page.next;
    } while (after !== undefined && (removed.messages < excess.messages || removed.bytes < excess.bytes));
    await this.#views.countRemoved(view, removed);
    return removed.messages;
  }
}

function rangeOf(session: SessionRef) {
  return { p: ownedPartition(session), from: OWNED.waiting, to: endOf(OWNED.waiting) };
}

import { messageBytes, type QueueLimits, type SessionRef } from '@apus/broker';
import { batchDelete } from '../table/batch.ts';
import { OWNED, ownedPartition } from '../table/keys.ts';
import { endOf, type Table } from '../table/table.ts';
import { transact } from '../table/transaction.ts';
import { type Item, number, numberOf, text, textOf } from '../table/values.ts';
import type { Copies } from './copies.ts';
import { namesDequeued } from './entries.ts';
import { entryFields, type Entry as Offered, sizeOfEntry, waitingKey } from './queue-items.ts';
import type { HeldRecord, Records, Removed } from './records.ts';
import type { LogItem } from './types.ts';

/** Oldest messages that are read at a time to make room. */
const DROPS_READ = 8;

/** A page of the log, from its start. */
export interface LogRead {
  readonly items: readonly Item[];
  readonly isComplete: boolean;
}

/** The outcome of an append. `known`: an earlier fan-out has placed the message; this is its memory. */
export type Appended =
  | { readonly isStored: boolean; readonly dropped: number }
  | { readonly known: Item | undefined };

/** The messages that wait for a session, an item each, in the order of their names. */
export class RecordLog {
  readonly #table: Table;
  readonly #records: Records;
  readonly #copies: Copies;

  constructor(table: Table, records: Records, copies: Copies) {
    this.#table = table;
    this.#records = records;
    this.#copies = copies;
  }

  async first(session: SessionRef, limit: number): Promise<LogRead> {
    const { items, next } = await this.#table.query({ ...rangeOf(session), limit });
    return { items, isComplete: next === undefined };
  }

  async has(session: SessionRef, offered: Offered): Promise<boolean> {
    return (await this.#table.get(waitingKey(session, offered))) !== undefined;
  }

  /** True for the caller whose delete removed it. */
  async delete(session: SessionRef, name: string): Promise<boolean> {
    const isThere = 'attribute_exists(p)';
    const { ok, isRetry } = await this.#table.delete(
      { p: ownedPartition(session), s: OWNED.waiting + name },
      { condition: isThere },
    );
    return ok || isRetry;
  }

  async deleteAll(session: SessionRef, names: readonly string[]): Promise<void> {
    const p = text(ownedPartition(session));
    await batchDelete(
      this.#table,
      names.map((name) => ({ p, s: text(OWNED.waiting + name) })),
    );
  }

  /** How many messages wait in the log and have no packet id: all that were appended, less those that have left. */
  async length(session: SessionRef, held: HeldRecord): Promise<number> {
    const last = await this.#last(session);
    return last === undefined
      ? 0
      : Math.max(0, (numberOf(last, 'n') ?? 0) - held.removed.messages - dequeuedIn(held));
  }

  /**
   * Lets a message wait, and others give way where the queue is full. Each item says how many had come with it, the record
   * how many have left; see `Waiting.append` for what that costs in precision.
   */
  async append(
    session: SessionRef,
    held: HeldRecord,
    offered: Offered,
    limits: QueueLimits,
    memory: Item | undefined,
  ): Promise<Appended> {
    const last = await this.#last(session);
    const { removed } = held;
    // The last message that is there may have been dequeued, and others behind it may have been acknowledged.
    const gone = {
      messages: removed.messages + dequeuedIn(held),
      bytes: removed.bytes + dequeuedBytesIn(held),
    };
    const came = Math.max(numberOf(last, 'n') ?? 0, gone.messages);
    const cameBytes = Math.max(numberOf(last, 'cb') ?? 0, gone.bytes);
    const size = messageBytes(offered.message);
    const excess: Removed = {
      messages: came - gone.messages + 1 - limits.queueLengthMax,
      bytes: cameBytes - gone.bytes + size - limits.queueBytesMax,
    };
    let dropped = 0;
    if (excess.messages > 0 || excess.bytes > 0) {
      const known = memory && (await this.#copies.find(memory));
      if (known !== undefined) return { known };
      // Nothing has to give way for a repetition.
      if (offered.delivery.qos === 2 && (await this.has(session, offered)))
        return { isStored: true, dropped: 0 };
      const fits = limits.queueLengthMax > 0 && size <= limits.queueBytesMax;
      if (limits.whenFull === 'drop-newest' || !fits) return { isStored: false, dropped: 1 };
      dropped = await this.#dropOldest(session, held, excess);
    }
    const key = waitingKey(session, offered);
    const item: Item = {
      p: text(key.p),
      s: text(key.s),
      ...entryFields(offered),
      n: number(came + 1),
      cb: number(cameBytes + size),
    };
    const put = await this.#put(item, memory);
    if (put.isNew) await this.#countLate(item, last);
    return put.known === undefined ? { isStored: true, dropped } : put;
  }

  async #put(
    item: Item,
    memory: Item | undefined,
  ): Promise<{ isNew: boolean; known?: undefined } | { isNew: false; known: Item | undefined }> {
    const isNew = 'attribute_not_exists(p)';
    if (memory === undefined) return { isNew: (await this.#table.put(item, { condition: isNew })).ok };
    const along = this.#copies.remember(memory);
    const transacted = await transact(this.#table, [along, { put: item, condition: isNew }]);
    if (transacted.ok) return { isNew: true };
    return transacted.failed.has(0) ? { isNew: false, known: transacted.failed.get(0) } : { isNew: false };
  }

  /** One that came late, before the last: the next one asks that one for the number. */
  async #countLate(item: Item, last: Item | undefined): Promise<void> {
    const [sort = '', lastSort] = [textOf(item, 's'), textOf(last, 's')];
    if (lastSort === undefined || lastSort <= sort) return;
    await this.#table.update({ p: textOf(item, 'p') ?? '', s: lastSort }, 'ADD n :one, cb :bytes', {
      condition: 'attribute_exists(p)',
      values: { ':one': number(1), ':bytes': number(sizeOfEntry(item)) },
    });
  }

  async #last(session: SessionRef): Promise<Item | undefined> {
    const { items } = await this.#table.query({ ...rangeOf(session), limit: 1, isBackward: true });
    return items[0];
  }

  /** Drops from the front until the new message fits. Dequeued messages do not count as queued. */
  async #dropOldest(session: SessionRef, held: HeldRecord, excess: Removed): Promise<number> {
    const removed = { messages: 0, bytes: 0 };
    const dequeued = namesDequeued(held.record);
    const isEnough = () => removed.messages >= excess.messages && removed.bytes >= excess.bytes;
    let after: string | undefined;
    do {
      const page = await this.#table.query({ ...rangeOf(session), limit: DROPS_READ + dequeued.size, after });
      for (const item of page.items) {
        const name = nameOfItem(item);
        if (isEnough()) break;
        if (dequeued.has(name) || !(await this.delete(session, name))) continue;
        removed.messages += 1;
        removed.bytes += sizeOfEntry(item);
      }
      after = page.next;
    } while (after !== undefined && !isEnough());
    await this.#records.countRemoved(session, removed);
    return removed.messages;
  }
}

/** Message id and copy. */
export function nameOfItem(item: Item): string {
  return (textOf(item, 's') ?? '').slice(OWNED.waiting.length);
}

export function nameOfOffered(session: SessionRef, offered: Offered): string {
  return waitingKey(session, offered).s.slice(OWNED.waiting.length);
}

export function qosOfItem(item: Item): 1 | 2 {
  return textOf(item, 'k') === '2' ? 2 : 1;
}

export function logItemOf(item: Item, forgotten: ReadonlySet<string>): LogItem {
  const name = nameOfItem(item);
  return {
    name,
    qos: qosOfItem(item),
    bytes: sizeOfEntry(item),
    expiresAtMs: numberOf(item, 'xp'),
    isRemembered: forgotten.has(name),
  };
}

function dequeuedIn({ record }: HeldRecord): number {
  return namesDequeued(record).size;
}

function dequeuedBytesIn({ record: { entries } }: HeldRecord): number {
  return entries.reduce((sum, { body, bytes }) => sum + (body === 'log' ? bytes : 0), 0);
}

function rangeOf(session: SessionRef) {
  return { p: ownedPartition(session), from: OWNED.waiting, to: endOf(OWNED.waiting) };
}

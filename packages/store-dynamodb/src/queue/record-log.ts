import { messageBytes, type QueueLimits, type SessionRef } from '@apus/broker';
import { DROPS_READ } from '../limits.ts';
import { batchDelete } from '../table/batch.ts';
import { OWNED, ownedPartition } from '../table/keys.ts';
import { endOf, type Table } from '../table/table.ts';
import { transact } from '../table/transaction.ts';
import { type Item, number, numberOf, text, textOf } from '../table/values.ts';
import type { DeduplicationRecords } from './deduplication.ts';
import { namesDequeued } from './entries.ts';
import { bytesOfCopy, copyFields, type StorableCopy, waitingKey } from './queue-items.ts';
import type { Records } from './records.ts';
import type { LogItem, Removed, StoredRecord } from './types.ts';

/** A page of the log, from its start. */
export interface LogRead {
  readonly items: readonly Item[];
  readonly isComplete: boolean;
}

/** The outcome of an append. `known`: an earlier fan-out has placed the copy; this is its deduplication record. */
export type LogAppended =
  | { readonly isStored: boolean; readonly dropped: number }
  | { readonly known: Item | undefined };

/** The messages that wait for a session, an item each, in the order of their names. */
export class RecordLog {
  readonly #table: Table;
  readonly #records: Records;
  readonly #deduplication: DeduplicationRecords;

  constructor(table: Table, records: Records, deduplication: DeduplicationRecords) {
    this.#table = table;
    this.#records = records;
    this.#deduplication = deduplication;
  }

  async first(session: SessionRef, limit: number): Promise<LogRead> {
    const { items, next } = await this.#table.query({ ...rangeOf(session), limit });
    return { items, isComplete: next === undefined };
  }

  async has(session: SessionRef, offered: StorableCopy): Promise<boolean> {
    return (await this.#table.get(waitingKey(session, offered))) !== undefined;
  }

  /** True if this call has deleted the item, and not another one before. */
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

  /** How many messages in the log have no packet id: all that were appended, less those that have left. */
  async length(session: SessionRef, stored: StoredRecord): Promise<number> {
    const last = await this.#last(session);
    return last === undefined
      ? 0
      : Math.max(0, (numberOf(last, 'n') ?? 0) - stored.removed.messages - dequeuedIn(stored));
  }

  /**
   * Appends a message; where the queue is full, older messages give way. Each item says how many messages had been
   * appended with it, and the record says how many have left. Two that are appended at the same moment may take the
   * same number, so the queue may hold one message more than its limit.
   */
  async append(
    session: SessionRef,
    stored: StoredRecord,
    offered: StorableCopy,
    limits: QueueLimits,
    deduplication: Item | undefined,
  ): Promise<LogAppended> {
    const last = await this.#last(session);
    const { removed } = stored;
    // The last message may have been dequeued, and messages after it acknowledged and deleted.
    const gone = {
      messages: removed.messages + dequeuedIn(stored),
      bytes: removed.bytes + dequeuedBytesIn(stored),
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
      const known = deduplication && (await this.#deduplication.find(deduplication));
      if (known !== undefined) return { known };
      // A repetition makes no other message give way.
      if (offered.delivery.qos === 2 && (await this.has(session, offered)))
        return { isStored: true, dropped: 0 };
      const fits = limits.queueLengthMax > 0 && size <= limits.queueBytesMax;
      if (limits.whenFull === 'drop-newest' || !fits) return { isStored: false, dropped: 1 };
      dropped = await this.#dropOldest(session, stored, excess);
    }
    const key = waitingKey(session, offered);
    const item: Item = {
      p: text(key.p),
      s: text(key.s),
      ...copyFields(offered),
      n: number(came + 1),
      cb: number(cameBytes + size),
    };
    const put = await this.#put(item, deduplication);
    if (put.isNew) await this.#countLate(item, last);
    return put.known === undefined ? { isStored: true, dropped } : put;
  }

  async #put(
    item: Item,
    deduplication: Item | undefined,
  ): Promise<{ isNew: boolean; known?: undefined } | { isNew: false; known: Item | undefined }> {
    const isNew = 'attribute_not_exists(p)';
    if (deduplication === undefined) return { isNew: (await this.#table.put(item, { condition: isNew })).ok };
    const along = this.#deduplication.putFirst(deduplication);
    const transacted = await transact(this.#table, [along, { put: item, condition: isNew }]);
    if (transacted.ok) return { isNew: true };
    return transacted.failed.has(0) ? { isNew: false, known: transacted.failed.get(0) } : { isNew: false };
  }

  /**
   * A message whose id is older than the last one's came late. The last one has to count it, as the next append asks
   * the last.
   */
  async #countLate(item: Item, last: Item | undefined): Promise<void> {
    const [sort = '', lastSort] = [textOf(item, 's'), textOf(last, 's')];
    if (lastSort === undefined || lastSort <= sort) return;
    await this.#table.update({ p: textOf(item, 'p') ?? '', s: lastSort }, 'ADD n :one, cb :bytes', {
      condition: 'attribute_exists(p)',
      values: { ':one': number(1), ':bytes': number(bytesOfCopy(item)) },
    });
  }

  async #last(session: SessionRef): Promise<Item | undefined> {
    const { items } = await this.#table.query({ ...rangeOf(session), limit: 1, isBackward: true });
    return items[0];
  }

  /** Drops the oldest messages until the new one fits. Messages that have a packet id do not count as queued. */
  async #dropOldest(session: SessionRef, stored: StoredRecord, excess: Removed): Promise<number> {
    const removed = { messages: 0, bytes: 0 };
    const dequeued = namesDequeued(stored.record);
    const isEnough = () => removed.messages >= excess.messages && removed.bytes >= excess.bytes;
    let after: string | undefined;
    do {
      const page = await this.#table.query({ ...rangeOf(session), limit: DROPS_READ + dequeued.size, after });
      for (const item of page.items) {
        const name = nameOfItem(item);
        if (isEnough()) break;
        if (dequeued.has(name) || !(await this.delete(session, name))) continue;
        removed.messages += 1;
        removed.bytes += bytesOfCopy(item);
      }
      after = page.next;
    } while (after !== undefined && !isEnough());
    await this.#records.countRemoved(session, removed);
    return removed.messages;
  }
}

/** The name of a copy: its message id and its index. */
export function nameOfItem(item: Item): string {
  return (textOf(item, 's') ?? '').slice(OWNED.waiting.length);
}

export function nameOfOffered(session: SessionRef, offered: StorableCopy): string {
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
    bytes: bytesOfCopy(item),
    expiresAtMs: numberOf(item, 'xp'),
    wasPlaced: forgotten.has(name),
  };
}

function dequeuedIn({ record }: StoredRecord): number {
  return namesDequeued(record).size;
}

function dequeuedBytesIn({ record: { entries } }: StoredRecord): number {
  return entries.reduce((sum, { body, bytes }) => sum + (body === 'log' ? bytes : 0), 0);
}

function rangeOf(session: SessionRef) {
  return { p: ownedPartition(session), from: OWNED.waiting, to: endOf(OWNED.waiting) };
}

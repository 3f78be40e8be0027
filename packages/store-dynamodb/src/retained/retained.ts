import {
  isExpired,
  type Message,
  messageBytes,
  Page,
  type PageLimit,
  type RetainedLimits,
  type RetainedPage,
  type RetainedStore,
  retainedBytes,
} from '@apus/broker';
import { matches } from '@apus/mqtt';
import { INLINE_RETAINED_BYTES_MAX, TTL_SLACK_SECONDS } from '../limits.ts';
import type { RetainedHoldings } from '../quotas/retained-holdings.ts';
import type { Bodies } from '../table/bodies.ts';
import type { EventCache } from '../table/event-cache.ts';
import { retainedPartition, retainedSort } from '../table/keys.ts';
import { encodeMessage } from '../table/message-blob.ts';
import type { Table } from '../table/table.ts';
import { bytes, type Item, number, numberOf, text, textOf, VERSION } from '../table/values.ts';
import { cursorText, parseCursor } from './cursor.ts';
import { retainedRange } from './range.ts';
import { ReadAmount } from './read-amount.ts';
import { RetainedReader } from './reader.ts';
import type { RetainedSize } from './size.ts';

/**
 * After this many Queries, of at most 1 MB each, a call returns what it has read, or at least where to go on.
 */
const QUERIES_MAX = 4;

/**
 * Entries that a store in memory looks at while DynamoDB bills one read unit: so the 32,768 entries of one turn of a
 * client are 2,048 units.
 */
const LOOKED_AT_PER_UNIT = 16;

/** After a Query of so many units an empty page ends: the client is charged before it goes on. */
const CHARGED_UNITS = 64;

/**
 * Retained messages: an item for each topic, in the order of topics within the tenant, so that a wildcard reads only
 * the topics that begin with its literal levels. The message with the latest id wins; so does a delete:
 *
 *     publisher P                        publisher Q
 *     id 5: "on"
 *                                        id 6: empty payload
 *                                        delete(6): a tombstone with id 6
 *     put(5), late: fails, 6 is later
 *
 * A put drops the topic's subscribers that the frame has read ahead, so that they are matched after it:
 *
 *     publisher                          subscriber
 *     its frame begins: reads the heads
 *                                        writes its subscription; reads: nothing is retained
 *     put
 *     (were it matched by the earlier read …)
 *                                        … no frame would send it the message
 */
export class DynamoRetained implements RetainedStore {
  readonly #table: Table;
  readonly #bodies: Bodies;
  readonly #size: RetainedSize;
  readonly #holdings: RetainedHoldings;
  readonly #reader: RetainedReader;
  readonly #event: EventCache;

  constructor(
    table: Table,
    bodies: Bodies,
    size: RetainedSize,
    holdings: RetainedHoldings,
    event: EventCache,
  ) {
    this.#table = table;
    this.#event = event;
    this.#bodies = bodies;
    this.#size = size;
    this.#holdings = holdings;
    this.#reader = new RetainedReader(bodies);
  }

  async put(tenant: string, message: Message, limits: RetainedLimits): Promise<boolean> {
    const size = retainedBytes(message);
    if (!(await this.hasRoom(tenant, message, limits))) return false;
    const blob = encodeMessage(message);
    const isInline = blob.length <= INLINE_RETAINED_BYTES_MAX;
    const ttl = ttlSecondsOf(message);
    const body = isInline ? undefined : await this.#bodies.store(tenant, message.id, blob, ttl);
    const held = this.#holdings.fieldsFor(limits.holder, size);
    const { ok, old } = await this.#write(tenant, message.topic, message.id, {
      ...held,
      ...(body === undefined ? { b: bytes(blob) } : { bn: number(body.pieces) }),
      rs: number(size),
      ...(ttl !== undefined && { t: number(ttl) }),
    });
    if (!ok) {
      // Not its own body, if an earlier attempt's answer was lost.
      if (body !== undefined && textOf(old, 'm') !== message.id) await this.#bodies.delete(tenant, body);
      return true;
    }
    await this.#size.add(tenant, isThere(old) ? 0 : 1, size - sizeOf(old));
    await this.#holdings.count(tenant, held, 1);
    await this.#holdings.count(tenant, old, -1);
    await this.#forgetBody(tenant, old, message.id);
    return true;
  }

  async delete(tenant: string, topicName: string, before: string): Promise<void> {
    const { retainedTombstoneSeconds } = this.#table.settings;
    const { ok, old } = await this.#write(tenant, topicName, before, {
      x: number(1),
      t: number(this.#table.nowSeconds() + retainedTombstoneSeconds),
    });
    if (!ok || old === undefined || old.x !== undefined) return;
    await this.#size.add(tenant, -1, -sizeOf(old));
    await this.#holdings.count(tenant, old, -1);
    await this.#forgetBody(tenant, old, undefined);
  }

  /** Writes the counts of a sweep: nothing else subtracts the messages that TTL has removed. */
  async resize(tenant: string, messages: number, bytes: number): Promise<void> {
    await this.#size.set(tenant, messages, bytes);
  }

  async match(
    tenant: string,
    topicFilter: string,
    nowMs: number,
    from: string | undefined,
    limit: PageLimit,
  ): Promise<RetainedPage> {
    const range = { p: retainedPartition(tenant), ...retainedRange(topicFilter) };
    const page = new Page<Message>(limit);
    const cursor = parseCursor(from);
    const amount = new ReadAmount(limit, cursor?.items);
    let units = 0;
    const endAt = (end: string | undefined): RetainedPage => ({
      messages: page.entries,
      next: end === undefined ? undefined : cursorText(end, amount.ofNextPage()),
      lookedAt: Math.ceil(units * LOOKED_AT_PER_UNIT),
      readUnits: units,
    });
    let after = cursor?.after;
    for (let queries = 0; queries < QUERIES_MAX; queries += 1) {
      const read = await this.#table.query({ ...range, after, limit: amount.next() });
      units += read.units;
      for (const item of read.items) {
        const message = await this.#read(tenant, item, topicFilter, nowMs);
        const size = message && messageBytes(message);
        amount.look(size);
        if (size !== undefined && !page.hasRoom(size)) return endAt(after);
        if (message !== undefined && size !== undefined) {
          page.add(message, size);
          amount.take(size);
        }
        after = textOf(item, 's');
      }
      after = read.next;
      if (after === undefined || amount.isFull()) break;
      if (units >= CHARGED_UNITS && page.entries.length === 0) break;
    }
    return endAt(after);
  }

  /** Undefined: the filter does not match it, or it does not exist any more. */
  async #read(tenant: string, item: Item, topicFilter: string, nowMs: number): Promise<Message | undefined> {
    const message = await this.#reader.read(tenant, item);
    if (message === undefined || isExpired(message, nowMs)) return undefined;
    return matches(topicFilter, message.topic) ? message : undefined;
  }

  async #write(tenant: string, topicName: string, id: string, fields: Item) {
    const isNone = 'attribute_not_exists(p)';
    const isNotLater = 'm <= :id';
    // An expired tombstone that TTL has not deleted yet.
    const isForgotten = '(attribute_exists(x) AND t <= :now)';
    const item: Item = {
      p: text(retainedPartition(tenant)),
      s: text(retainedSort(topicName)),
      v: number(VERSION),
      m: text(id),
      ...fields,
    };
    const written = await this.#table.put(item, {
      condition: `${isNone} OR ${isNotLater} OR ${isForgotten}`,
      values: { ':id': text(id), ':now': number(this.#table.nowSeconds()) },
      returnsOld: true,
    });
    this.#event.forgetMatch(tenant, topicName);
    return written;
  }

  /** Reads the present message of the topic only if the new one has no room beside it. */
  async hasRoom(tenant: string, message: Message, limits: RetainedLimits): Promise<boolean> {
    const { topic: topicName } = message;
    const size = retainedBytes(message);
    const hasRoom = async (messages: number, bytes: number) =>
      await this.#size.hasRoom(tenant, { messages, bytes }, limits);
    const hasHolderRoom = async (messages: number, bytes: number) =>
      await this.#holdings.hasRoom(limits.holder, messages, bytes);
    if ((await hasRoom(1, size)) && (await hasHolderRoom(1, size))) return true;
    const old = await this.#table.get({ p: retainedPartition(tenant), s: retainedSort(topicName) });
    if (!isThere(old) || !(await hasRoom(0, size - sizeOf(old)))) {
      await this.#holdings.wantTenantCount(tenant);
      return false;
    }
    return this.#holdings.isOf(limits.holder, tenant, old)
      ? await hasHolderRoom(0, size - sizeOf(old))
      : await hasHolderRoom(1, size);
  }

  async #forgetBody(tenant: string, old: Item | undefined, keptId: string | undefined): Promise<void> {
    const pieces = numberOf(old, 'bn');
    const messageId = textOf(old, 'm');
    if (pieces === undefined || messageId === undefined || messageId === keptId) return;
    await this.#bodies.delete(tenant, { messageId, pieces });
  }
}

function isThere(item: Item | undefined): item is Item {
  return item !== undefined && item.x === undefined;
}

function sizeOf(item: Item | undefined): number {
  return isThere(item) ? (numberOf(item, 'rs') ?? 0) : 0;
}

function ttlSecondsOf({ expiresAtMs }: Message): number | undefined {
  return expiresAtMs === undefined ? undefined : Math.ceil(expiresAtMs / 1_000) + TTL_SLACK_SECONDS;
}

import {
  type AttributeValue,
  BatchGetItemCommand,
  BatchWriteItemCommand,
  type KeysAndAttributes,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import type { Key } from './keys.ts';
import { readUnits, sizeOf, writeUnits } from './meter.ts';
import { Pauses, withRetries } from './retry.ts';
import { marshalled, type Table } from './table.ts';
import { type Item, textOf } from './values.ts';

const GET_KEYS_MAX = 100;
const WRITE_ITEMS_MAX = 25;

/** Items found by a batch, by key. */
export class Found {
  readonly #items = new Map<string, Item>();

  add(item: Item): void {
    this.#items.set(`${textOf(item, 'p')}\0\0${textOf(item, 's')}`, item);
  }

  addAll(others: Found): void {
    for (const [key, item] of others.#items) this.#items.set(key, item);
  }

  get({ p, s }: Key): Item | undefined {
    return this.#items.get(`${p}\0\0${s}`);
  }
}

/** Strongly consistent reads of many items: calls of a hundred items, side by side. */
export async function batchGet(table: Table, keys: readonly Key[]): Promise<Found> {
  const found = new Found();
  const distinct = [...new Map(keys.map((key) => [`${key.p}\0\0${key.s}`, key])).values()];
  const chunks: Promise<void>[] = [];
  for (let start = 0; start < distinct.length; start += GET_KEYS_MAX) {
    chunks.push(getChunk(table, distinct.slice(start, start + GET_KEYS_MAX), found));
  }
  await Promise.all(chunks);
  return found;
}

async function getChunk(table: Table, keys: readonly Key[], found: Found): Promise<void> {
  const { client } = table.settings;
  const pauses = new Pauses('BatchGetItem', table.settings);
  let left = keys;
  while (left.length > 0) {
    const command = new BatchGetItemCommand({
      RequestItems: requestsFor(table, left),
      ReturnConsumedCapacity: 'TOTAL',
    });
    const { answer } = await withRetries('BatchGetItem', table.settings, () => client.send(command));
    const items = Object.values(answer.Responses ?? {}).flat();
    const unprocessed = Object.values(answer.UnprocessedKeys ?? {}).flatMap(({ Keys = [] }) =>
      Keys.map(keyOf),
    );
    const missing = left.length - unprocessed.length - items.length;
    table.countRead(answer.ConsumedCapacity, () =>
      items.reduce((sum, item) => sum + readUnits(sizeOf(item)), missing),
    );
    for (const item of items) if (table.isAlive(item)) found.add(item);
    // A batch reads a megabyte of one partition. The rest of a large body remains, without any throttling.
    if (unprocessed.length < left.length) pauses.begin();
    left = unprocessed;
    if (left.length > 0) await pauses.next(undefined);
  }
}

function requestsFor(table: Table, keys: readonly Key[]): Record<string, KeysAndAttributes> {
  const requests: Record<string, { Keys: Record<string, AttributeValue>[]; ConsistentRead: true }> = {};
  for (const key of keys) {
    const name = table.nameFor(key.p);
    requests[name] ??= { Keys: [], ConsistentRead: true };
    requests[name].Keys.push(marshalled(key));
  }
  return requests;
}

function keyOf(item: Item): Key {
  return { p: textOf(item, 'p') ?? '', s: textOf(item, 's') ?? '' };
}

/** Deletes items that were read. */
export async function batchDelete(table: Table, items: readonly Item[]): Promise<void> {
  await batchWrite(
    table,
    items.map((item) => {
      const key = keyOf(item);
      return { p: key.p, write: { DeleteRequest: { Key: marshalled(key) } } };
    }),
    items.reduce((sum, item) => sum + writeUnits(sizeOf(item)), 0),
  );
}

/** A write without a condition, and the partition that it goes to. */
interface BatchedWrite {
  readonly p: string;
  readonly write: WriteRequest;
}

async function batchWrite(table: Table, writes: readonly BatchedWrite[], units: number): Promise<void> {
  const { client } = table.settings;
  for (let start = 0; start < writes.length; start += WRITE_ITEMS_MAX) {
    const pauses = new Pauses('BatchWriteItem', table.settings);
    let left: Record<string, WriteRequest[]> = writesByTable(
      table,
      writes.slice(start, start + WRITE_ITEMS_MAX),
    );
    while (Object.keys(left).length > 0) {
      const command = new BatchWriteItemCommand({ RequestItems: left });
      const { answer } = await withRetries('BatchWriteItem', table.settings, () => client.send(command));
      left = answer.UnprocessedItems ?? {};
      if (Object.keys(left).length > 0) await pauses.next(undefined);
    }
  }
  if (units > 0) table.meter.write(units);
}

function writesByTable(table: Table, writes: readonly BatchedWrite[]): Record<string, WriteRequest[]> {
  const byTable: Record<string, WriteRequest[]> = {};
  for (const { p, write } of writes) {
    const name = table.nameFor(p);
    byTable[name] ??= [];
    byTable[name].push(write);
  }
  return byTable;
}

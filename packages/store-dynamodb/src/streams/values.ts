import { isExpired } from '@apus/broker';
import { STREAM_VALUES_READ_MAX } from '../limits.ts';
import { streamValueKey, streamValuesPartition } from '../table/keys.ts';
import { endOf, type Table } from '../table/table.ts';
import { type Item, number, numberOf, text, textOf } from '../table/values.ts';
import { type Root, valueEndsAt } from './log-head.ts';
import type { StreamTopic } from './open-log.ts';
import { itemOf, type Tile, tileOf } from './tile.ts';

/*
 * The last value of a key of a topic: a tile under another key. `g` and `l` are the log and number of its message: a
 * later message is never replaced by an earlier one. A message with an empty payload deletes the key; its item stays
 * as long, since a handler with an earlier value may still be at work, and as the newest number of the topic.
 */

/** Keeps the message as the last value of its key, unless a later one is there. */
export async function keepValue(
  table: Table,
  { tenant, stream, topic }: StreamTopic,
  log: string,
  tile: Tile,
): Promise<void> {
  const key = streamValueKey(tenant, stream.name, topic, tile.key);
  const item: Item = {
    ...itemOf(key, tile, valueEndsAt(stream, tile.tsMs)),
    g: text(log),
    l: number(tile.number),
  };
  await table.put(item, {
    condition: 'attribute_not_exists(p) OR g < :g OR (g = :g AND l < :l)',
    values: { ':g': text(log), ':l': number(tile.number) },
  });
}

/** The values of the present log, empty and expired ones included. Values of earlier logs do not count. */
export async function* readValues(table: Table, of: StreamTopic, { log }: Root): AsyncGenerator<Tile> {
  const p = streamValuesPartition(of.tenant, of.stream.name, of.topic);
  let left = STREAM_VALUES_READ_MAX;
  let after: string | undefined;
  do {
    const page = await table.query({ p, from: '\0', to: endOf(''), after });
    for (const item of page.items) {
      const tile = textOf(item, 'g') === log ? tileOf(item, numberOf(item, 'l')) : 'closing';
      if (tile !== 'closing') yield tile;
    }
    left -= page.items.length;
    after = page.next;
  } while (after !== undefined && left > 0);
}

/** Whether new readers are sent the value. */
export function isValue({ message }: Tile, nowMs: number): boolean {
  return message.payload.length > 0 && !isExpired(message, nowMs);
}

/** Whether the topic has a value, and so is not forgotten. */
export async function hasValue(table: Table, of: StreamTopic, root: Root, nowMs: number): Promise<boolean> {
  if (!of.stream.snapshot) return false;
  for await (const tile of readValues(table, of, root)) if (isValue(tile, nowMs)) return true;
  return false;
}

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ConnectionId } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import { OWNED } from './keys.ts';
import { bytes, bytesOf, type Item, number, numberOf, text, textOf } from './values.ts';

/** A message that has been drawn: where it waits until it is acknowledged, and under which packet id it was sent. */
export interface DrawnEntry {
  readonly packetId: PacketId;
  /** The sort key of its item. */
  readonly sort: string;
}

/** What has been drawn of a queue. An entry whose message is not there any more has been acknowledged. */
export interface DrawnList {
  readonly connectionId: ConnectionId | undefined;
  /** Sent on that connection. */
  readonly sent: readonly DrawnEntry[];
  /** Sent on an earlier one, and to be sent again. */
  readonly unsent: readonly DrawnEntry[];
  /** Of the write that made it what it is. */
  readonly nonce: string;
}

/*
 * A list's item. `c` connection, `u` nonce of the last write, `l` pairs of packet id and sort key, deflated JSON: a
 * hundred take about a kilobyte; `n` how many of them, from the beginning, were sent on `c`. It shares no attribute with
 * an inflight item but the connection: a process of an earlier version takes it for one without a body, and goes on.
 */

/** The attributes of a list. */
export function drawnFields({ connectionId, sent, unsent, nonce }: DrawnList): Item {
  return {
    ...(connectionId !== undefined && { c: text(connectionId) }),
    u: text(nonce),
    n: number(sent.length),
    l: bytes(packed([...sent, ...unsent])),
  };
}

export function drawnListOf(item: Item | undefined): DrawnList | undefined {
  const packedEntries = bytesOf(item, 'l');
  if (item === undefined || packedEntries === undefined) return undefined;
  const entries = unpacked(packedEntries);
  const sent = numberOf(item, 'n') ?? 0;
  return {
    connectionId: textOf(item, 'c'),
    sent: entries.slice(0, sent),
    unsent: entries.slice(sent),
    nonce: textOf(item, 'u') ?? '',
  };
}

/** Whether a message that waits, or did, is one of those that have been drawn. */
export function hasDrawn(list: DrawnList | undefined, waiting: Item): boolean {
  const sort = textOf(waiting, 's');
  const isNamed = (entry: DrawnEntry) => entry.sort === sort;
  return list !== undefined && (list.sent.some(isNamed) || list.unsent.some(isNamed));
}

/** Whether an item of a session's partition is its list, and not a message. */
export function isDrawnList(item: Item): boolean {
  return textOf(item, 's') === OWNED.drawn;
}

type Packed = [packetId: PacketId, name: string];

function packed(entries: readonly DrawnEntry[]): Uint8Array {
  const pairs = entries.map(({ packetId, sort }): Packed => [packetId, sort.slice(OWNED.waiting.length)]);
  return deflateRawSync(JSON.stringify(pairs));
}

function unpacked(blob: Uint8Array): DrawnEntry[] {
  const pairs = JSON.parse(inflateRawSync(blob).toString()) as Packed[];
  return pairs.map(([packetId, name]) => ({ packetId, sort: OWNED.waiting + name }));
}

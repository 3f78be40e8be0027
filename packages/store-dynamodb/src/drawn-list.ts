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
  /** Which item that was: see `isNamedBy`. Undefined: an earlier version has put or drawn it. */
  readonly nonce: string | undefined;
}

/** What has been drawn of a queue. An entry whose message is not there any more has been acknowledged. */
export interface DrawnList {
  readonly connectionId: ConnectionId | undefined;
  /** Sent on that connection. */
  readonly sent: readonly DrawnEntry[];
  /** Sent on an earlier one, and to be sent again. */
  readonly unsent: readonly DrawnEntry[];
  /**
   * Messages that are being drawn for that connection, or sent again on it, and have, or get then, an item of their own:
   * the sort keys where they wait, or did.
   */
  readonly moving: readonly string[];
  /** What was drawn last leaves in pushes, and not with a reply. */
  readonly isPushed: boolean;
  /** Of the write that made it what it is. */
  readonly nonce: string;
}

/*
 * A list's item. `c` connection, `u` nonce of the last write, `l` packet ids, sort keys and nonces, deflated JSON: a
 * hundred take about a kilobyte; `n` how many of them, from the beginning, were sent on `c`; `mv` the sort keys
 * of those that get an item of their own, deflated JSON, and `x` 1 when the last page leaves in pushes, both left out where
 * they say nothing: an earlier version does not read them. It shares no attribute with an inflight item but the
 * connection: an even earlier one takes it for one without a body, and goes on.
 */

/** The attributes of a list. */
export function drawnFields({ connectionId, sent, unsent, moving, isPushed, nonce }: DrawnList): Item {
  return {
    ...(connectionId !== undefined && { c: text(connectionId) }),
    u: text(nonce),
    n: number(sent.length),
    l: bytes(deflated([...sent, ...unsent].map(packed))),
    ...(moving.length > 0 && { mv: bytes(deflated(moving.map(nameOf))) }),
    ...(isPushed && { x: number(1) }),
  };
}

export function drawnListOf(item: Item | undefined): DrawnList | undefined {
  const packedEntries = bytesOf(item, 'l');
  if (item === undefined || packedEntries === undefined) return undefined;
  const entries = inflated<Packed>(packedEntries).map(([packetId, name, nonce]) => ({
    packetId,
    sort: sortOf(name),
    nonce,
  }));
  const moving = bytesOf(item, 'mv');
  const sent = numberOf(item, 'n') ?? 0;
  return {
    connectionId: textOf(item, 'c'),
    sent: entries.slice(0, sent),
    unsent: entries.slice(sent),
    moving: moving === undefined ? [] : inflated<string>(moving).map(sortOf),
    isPushed: numberOf(item, 'x') === 1,
    nonce: textOf(item, 'u') ?? '',
  };
}

export function drawnEntryOf(waiting: Item, packetId: PacketId): DrawnEntry {
  return { packetId, sort: textOf(waiting, 's') ?? '', nonce: textOf(waiting, 'u') };
}

/**
 * Whether an entry names this item, and not one that stood there before. A fan-out may be repeated after its message has
 * been drawn and acknowledged:
 *
 *     worker                             client                             its successor, the same slice
 *     m joins the queue, dies
 *                                        is sent m and n: the list
 *                                        PUBACK of m: its item is deleted
 *                                                                           m joins the queue
 *
 * Were that m taken for the one which the list names, nobody would send it, and everybody wait for its acknowledgement.
 */
export function isNamedBy(entry: DrawnEntry, waiting: Item | undefined): boolean {
  const isSame = entry.nonce === undefined || entry.nonce === textOf(waiting, 'u');
  return isSame && entry.sort === textOf(waiting, 's');
}

/** Of a message that waits, or did. Undefined: it has not been drawn. */
export function entryFor(list: DrawnList | undefined, waiting: Item): DrawnEntry | undefined {
  const isIts = (entry: DrawnEntry) => isNamedBy(entry, waiting);
  return list?.sent.find(isIts) ?? list?.unsent.find(isIts);
}

/** Whether a message that waits is being drawn for this connection, and gets an item of its own. */
export function isMoving(
  list: DrawnList | undefined,
  connectionId: ConnectionId | undefined,
  waiting: Item,
): boolean {
  return list?.connectionId === connectionId && list?.moving.includes(textOf(waiting, 's') ?? '') === true;
}

/** Whether an item of a session's partition is its list, and not a message. */
export function isDrawnList(item: Item): boolean {
  return textOf(item, 's') === OWNED.drawn;
}

type Packed = [packetId: PacketId, name: string, nonce?: string];

function packed({ packetId, sort, nonce }: DrawnEntry): Packed {
  return nonce === undefined ? [packetId, nameOf(sort)] : [packetId, nameOf(sort), nonce];
}

const nameOf = (sort: string): string => sort.slice(OWNED.waiting.length);
const sortOf = (name: string): string => OWNED.waiting + name;

function deflated(list: readonly unknown[]): Uint8Array {
  return deflateRawSync(JSON.stringify(list));
}

/** What a process of ours has written. */
function inflated<T>(blob: Uint8Array): T[] {
  return JSON.parse(inflateRawSync(blob).toString()) as T[];
}

import { type Delivery, type Message, messageBytes, type QueuedPublish, type SessionRef } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import type { BodyRef } from './bodies.ts';
import { type Key, OWNED, ownedPartition } from './keys.ts';
import { decodeMessage } from './message-blob.ts';
import {
  bytes,
  bytesOf,
  fromJson,
  type Item,
  number,
  numberOf,
  text,
  textOf,
  toJson,
  VERSION,
} from './values.ts';

/*
 * What a queue's items say. Both kinds: `m` message id, `ix` which of its deliveries to this session, `d` delivery,
 * `k` what answers it (1: PUBACK, 2: PUBREC, r: PUBCOMP, as PUBREC has come),
 * `b` the encoded message or `bn` the pieces of its body, `by` its bytes of topic and payload, `xp` when it expires.
 * Waiting: `n` and `cb`, how many messages and bytes had ever waited when it came, with it; `u` a nonce of the put.
 * Inflight: `c` the connection it was sent on, `w` 1 when it takes a place in the window, `f` when its
 * acknowledgement has to look: see `LOOK`.
 */

/** What answers a message, and so how far its exchange has come. */
export const KIND = { atLeastOnce: '1', exactlyOnce: '2', released: 'r' } as const;

/**
 * Why an acknowledgement looks for what waits: as there was something behind its message, which was drawn or sent again
 * perhaps; or only in case there is.
 */
export const LOOK = { moreBehind: 1, inCase: 2 } as const;

/** A message on its way into one session's queue. */
export interface Entry {
  readonly message: Message;
  readonly delivery: Delivery;
  /** Distinguishes deliveries of one message to one session; at QoS 2 the same when the message is offered again. */
  readonly index: string;
  /** Encoded, or where its body has been stored. */
  readonly content: { readonly blob: Uint8Array } | { readonly body: BodyRef };
  readonly ttlSeconds: number;
}

export const packetSort = (packetId: PacketId): string => OWNED.inflight + String(packetId).padStart(5, '0');

export function inflightKey(session: SessionRef, packetId: PacketId): Key {
  return { p: ownedPartition(session), s: packetSort(packetId) };
}

const waitingSort = (messageId: string, index: string): string => `${OWNED.waiting}${messageId}\0${index}`;

export function waitingKey(session: SessionRef, { message, index }: Entry): Key {
  return { p: ownedPartition(session), s: waitingSort(message.id, index) };
}

/** Where a message waits, or would, whose attributes these are. */
export function waitingSortOf(fields: Item): string {
  return waitingSort(textOf(fields, 'm') ?? '', indexOf(fields));
}

export function packetIdOf(item: Item): PacketId {
  return Number(textOf(item, 's')?.slice(OWNED.inflight.length) ?? 0);
}

export function isInflight(item: Item): boolean {
  const sort = textOf(item, 's') ?? '';
  return sort.startsWith(OWNED.inflight) && sort !== OWNED.drawn;
}

/** The attributes of both kinds. */
export function entryFields({ message, delivery, index, content, ttlSeconds }: Entry): Item {
  const { qos, retain, subscriptionIdentifiers, share } = delivery;
  return {
    v: number(VERSION),
    t: number(ttlSeconds),
    m: text(message.id),
    ix: text(index),
    k: text(qos === 2 ? KIND.exactlyOnce : KIND.atLeastOnce),
    d: text(toJson({ qos, retain, subscriptionIdentifiers, share })),
    by: number(messageBytes(message)),
    ...('blob' in content ? { b: bytes(content.blob) } : { bn: number(content.body.pieces) }),
    ...(message.expiresAtMs !== undefined && { xp: number(message.expiresAtMs) }),
  };
}

/** Its PUBLISH was sent, or is about to be, and has not been answered by a PUBREC. */
export function isExactlyOnce(item: Item): boolean {
  return textOf(item, 'k') === KIND.exactlyOnce;
}

/** What an inflight item takes over from the waiting one. */
export function movedFields(waiting: Item): Item {
  const { p: _p, s: _s, n: _n, cb: _cb, u: _u, ...fields } = waiting;
  return fields;
}

export function sizeOfEntry(item: Item): number {
  return numberOf(item, 'by') ?? 0;
}

/** By message id: the order in which they were accepted, and are sent again. */
export function compareEntries(one: Item, other: Item): number {
  const [left, right] = [textOf(one, 'm') ?? '', textOf(other, 'm') ?? ''];
  if (left !== right) return left < right ? -1 : 1;
  const [index, otherIndex] = [indexOf(one), indexOf(other)];
  return index === otherIndex ? 0 : index < otherIndex ? -1 : 1;
}

export function indexOf(item: Item): string {
  return textOf(item, 'ix') ?? '';
}

export function isSameEntry(one: Item, other: Item): boolean {
  return compareEntries(one, other) === 0;
}

/** The same entry with the same content: a fan-out that is repeated. */
export function isCopyOf(one: Item, other: Item): boolean {
  const [left, right] = [bytesOf(one, 'b'), bytesOf(other, 'b')];
  const isSameContent = left === undefined || right === undefined || Buffer.compare(left, right) === 0;
  return isSameEntry(one, other) && isSameContent;
}

export function bodyRefOf(item: Item): BodyRef | undefined {
  const pieces = numberOf(item, 'bn');
  return pieces === undefined ? undefined : { messageId: textOf(item, 'm') ?? '', pieces };
}

/** Undefined when its body is gone. */
export function queuedOf(
  item: Item,
  body: Uint8Array | undefined,
  session: SessionRef,
  packetId: PacketId,
  dup: boolean,
): QueuedPublish | undefined {
  const blob = bytesOf(item, 'b') ?? body;
  const message = blob && decodeMessage(blob);
  if (message === undefined) return undefined;
  const stored = fromJson(textOf(item, 'd') ?? '{}') as Pick<Delivery, 'qos' | 'retain'>;
  const delivery: Delivery = {
    subscriptionIdentifiers: undefined,
    share: undefined,
    ...stored,
    session,
    packetId,
    dup,
  };
  return { type: 'publish', message, delivery };
}

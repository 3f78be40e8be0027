import { type Delivery, type Message, messageBytes, type QueuedPublish, type SessionRef } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import type { BodyRef } from '../table/bodies.ts';
import { type Key, OWNED, ownedPartition } from '../table/keys.ts';
import { decodeMessage } from '../table/message-blob.ts';
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
} from '../table/values.ts';

/*
 * A message of a queue, in an item of the log or in the record: `m` message id, `ix` which of its deliveries to this
 * session, `d` delivery, `k` its QoS, `b` the encoded message or `bn` the pieces of its body, `by` its bytes of topic
 * and payload, `xp` when it expires. In the log: `n` and `cb`, how many messages and bytes had ever waited when it
 * came, with it.
 */

/** A copy of a message as the log or the record stores it. */
export interface StorableCopy {
  readonly message: Message;
  readonly delivery: Delivery;
  /** Tells the copies of one message for one session apart. At QoS 2 a repetition has the same index. */
  readonly index: string;
  /** The encoded message, or the name of its stored body. */
  readonly content: { readonly blob: Uint8Array } | { readonly body: BodyRef };
  readonly ttlSeconds: number;
}

const waitingSort = (messageId: string, index: string): string => `${OWNED.waiting}${messageId}\0${index}`;

export function waitingKey(session: SessionRef, { message, index }: StorableCopy): Key {
  return { p: ownedPartition(session), s: waitingSort(message.id, index) };
}

/** The attributes of a message in an item of the log, or in the record. */
export function copyFields({ message, delivery, index, content, ttlSeconds }: StorableCopy): Item {
  const { qos, retain, subscriptionIdentifiers, share } = delivery;
  return {
    v: number(VERSION),
    t: number(ttlSeconds),
    m: text(message.id),
    ix: text(index),
    k: text(String(qos)),
    d: text(toJson({ qos, retain, subscriptionIdentifiers, share })),
    by: number(messageBytes(message)),
    ...('blob' in content ? { b: bytes(content.blob) } : { bn: number(content.body.pieces) }),
    ...(message.expiresAtMs !== undefined && { xp: number(message.expiresAtMs) }),
  };
}

export function bytesOfCopy(item: Item): number {
  return numberOf(item, 'by') ?? 0;
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

import type { PacketId } from '@apus/mqtt';
import type { Awaitable } from '../flow.ts';
import type { Message } from '../message.ts';
import type { ConnectionId, Delivery, Queued, QueuedPublish, SessionRef } from '../session.ts';
import type { PageLimit } from './page.ts';

/** How much one session's queue may hold, and which messages it drops when it is full. */
export interface QueueLimits {
  readonly queueLengthMax: number;
  readonly queueBytesMax: number;
  readonly whenFull: 'drop-oldest' | 'drop-newest';
}

/** A packet of the client that ends the exchange of a message. */
export type CompletingPacket = 'puback' | 'pubrec' | 'pubcomp';

/**
 * The outcome of an acknowledgement. 'unknown': the packet id is not in use. 'out-of-place': the exchange of this
 * message does not have the packet at this point (PUBACK at QoS 2, PUBREC at QoS 1, PUBCOMP before PUBREC); nothing was
 * changed. 'ended': the connection has lost its session, so the message will be sent again; said of PUBREC alone.
 */
export type Acknowledged = 'done' | 'unknown' | 'out-of-place' | 'ended';

/** A message for some sessions, all at QoS 1 or 2. */
export interface Offer {
  readonly message: Message;
  readonly deliveries: readonly Delivery[];
  /** Deliveries whose connections do not take more now. */
  readonly hold?: ReadonlySet<Delivery> | undefined;
}

/** Messages that have been offered: those with a `packetId` may be sent, and then the others are appended. */
export interface Offered {
  /**
   * Connections to which one of the messages was sent before, or not. Each is to be ended before `append`: its client
   * returns, and is sent the message again as MQTT says.
   */
  readonly uncertain: readonly ConnectionId[];
  /**
   * Connections for which a message waits. Their posts have to leave before `append`: a client may dequeue the
   * messages that it stores.
   */
  readonly waiting: readonly ConnectionId[];
  /** Stores the messages that wait. */
  append(): Awaitable<Appended>;
}

export interface Appended {
  /** Messages that were dropped, as `offer` answers it. */
  readonly dropped: number;
  /** As in `Offered`: found so while the messages were appended. */
  readonly uncertain: readonly ConnectionId[];
  /** Connections whose clients have to be told to fetch: messages wait that no reply has announced. */
  readonly unannounced: readonly ConnectionId[];
}

/**
 * The messages that the broker owes to sessions: those that wait (the queue) and those that were sent and not yet
 * acknowledged (inflight). The window is the Receive Maximum of the session's attachment: at most this many PUBLISH
 * packets of QoS 1 and 2 are unacknowledged on one connection [MQTT-3.3.4-9] [MQTT-4.9.0-2].
 */
export interface QueueStore {
  /**
   * Takes responsibility for one message towards many sessions, all at QoS 1 or 2. A delivery whose session is
   * attached, has nothing waiting (nor to be sent again), and has room in its window gets a `packetId` that is not in
   * use (nor above `KEPT_PACKET_ID_MAX`) and may be sent at once, unless `hold` names it; every other is left waiting
   * with `packetId` 0. Returns how many messages were dropped because a queue was full; each delivery also has its own
   * number (`dropped`).
   *
   * A fan-out may be repeated under the same message id, after a crash or beside the first. At QoS 2 a copy
   * (`Delivery.copy`) is still taken only once, at least until the receipt of its message is marked
   * (`ReceivedStore.markDelivered`). A repetition of a copy that was sent and not yet acknowledged may get its `packetId`,
   * with `dup` set; in a share group the delivery then names the member that has the copy. Any other repetition is left
   * with `packetId` 0, and is not stored.
   *
   * A delivery whose session is over is dropped. A delivery of a shared subscription then has `passOnAs`, unless a
   * member may have been sent the message, or the process that ended the session passes it on.
   *
   * The limits are for waiting messages. 'drop-newest' drops the message that came; 'drop-oldest' drops from the front
   * until it fits, unless it would not fit an empty queue: then it is dropped itself.
   */
  offer(
    message: Message,
    deliveries: readonly Delivery[],
    limits: QueueLimits,
    hold?: ReadonlySet<Delivery>,
  ): Awaitable<number>;

  /**
   * The same for the messages of a whole event, in their order, and in two steps: the door sends the messages that were
   * taken between them. Absent where `offer` stores and the door sends at once.
   */
  offerAll?(offers: readonly Offer[], limits: QueueLimits): Awaitable<Offered>;

  /**
   * Dequeues the next page that may be sent; nothing while the session is offline. First the packets that have to be
   * sent again since `SessionStore.open` [MQTT-4.4.0-1], in their old order and under their packet ids [MQTT-4.6.0-5]:
   * messages with `dup` set, expired or not (their delivery has begun), and PUBREL for a message whose PUBREC came.
   * Then the messages that wait; expired ones are skipped and deleted [MQTT-3.3.2-5].
   *
   * Each entry carries the session's current connection. CONNECT must be the first to call this: until then a queue may
   * take the previous connection for the session's.
   *
   * A message takes its place in the window until it is complete. A PUBREL that is sent again takes none, and no full
   * window holds it back [MQTT-3.3.4-10]; so it may overtake messages.
   */
  next(session: SessionRef, limit: PageLimit, nowMs: number): Awaitable<readonly Queued[]>;

  /**
   * The message is done with: for the given answer of the client (a PUBREC here is one with an error), or without one
   * because the server has given it up. Here and in `release` an id that was sent on an earlier connection, and not
   * yet again on this one, may or may not be known.
   */
  complete(session: SessionRef, packetId: PacketId, answer?: CompletingPacket): Awaitable<Acknowledged>;

  /**
   * PUBREC: the message will not be sent again [MQTT-4.3.3-6], and the id stays in use, with its place in the window,
   * until `complete`. The caller answers with PUBREL. 'done' also when this call was made before.
   *
   * A PUBREC may come late, of a connection that was taken over: its PUBREL would be lost there. So where the message has
   * not been sent again on the connection of now, `next` gives the PUBREL in its place.
   */
  release(session: SessionRef, packetId: PacketId): Awaitable<Acknowledged>;

  /**
   * The messages that an ended incarnation leaves behind, never acknowledged, not even by PUBREC, oldest first. A
   * `packetId` other than 0 says that the message has been sent. Nothing is changed: the caller passes them on and then
   * calls `clear`.
   */
  unacknowledged(session: SessionRef): Awaitable<readonly QueuedPublish[]>;

  /** Forgets all of an incarnation. */
  clear(session: SessionRef): Awaitable<void>;

  /**
   * Nothing waits that `next` would dequeue. Absent where it cannot be told at once.
   */
  isIdle?(session: SessionRef): boolean;

  /** How many messages wait, not counting those inflight. */
  length(session: SessionRef): Awaitable<number>;

  /**
   * Messages wait that `next` may not dequeue, as the process that stored them died before it said that they wait. From
   * now on `next` dequeues them. Absent where a message that is stored is dequeued.
   */
  lookAgain?(session: SessionRef): Awaitable<void>;
}

/** The packet identifiers of QoS 2 messages that a client has sent and not yet released. */
export interface ReceivedStore {
  /**
   * Notes the first receipt of a packet id. `messageId` is the id of the first receipt: a resend gets the same. 'new':
   * handle it and then call `markDelivered`. 'pending': it was begun and perhaps not finished, so repeat it under the same
   * message id. 'delivered': it was handed on, so only answer again. 'over-limit': with this one more than `maximum`
   * would be unreleased [MQTT-3.3.4-7]; it is not noted.
   */
  begin(
    session: SessionRef,
    packetId: PacketId,
    messageId: string,
    maximum: number,
  ): Awaitable<{ state: 'new' | 'pending' | 'delivered' | 'over-limit'; messageId: string }>;

  /**
   * Whether fewer than `maximum` are unreleased, so that a QoS 1 message may come on top [MQTT-3.3.4-7]. True without
   * looking where a look costs a read: QoS 1 is answered before the next packet is handled.
   */
  hasRoom(session: SessionRef, maximum: number): Awaitable<boolean>;

  /** The message has been handed to its recipients. Does nothing when the id is not known (any more). */
  markDelivered(session: SessionRef, packetId: PacketId): Awaitable<void>;

  /** PUBREL: the id may be used again. False when it was not known. */
  release(session: SessionRef, packetId: PacketId): Awaitable<boolean>;

  clear(session: SessionRef): Awaitable<void>;
}

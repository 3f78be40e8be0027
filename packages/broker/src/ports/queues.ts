import type { PacketId } from '@apus/mqtt';
import type { Awaitable } from '../model/flow.ts';
import type { Message } from '../model/message.ts';
import type { PageLimit } from '../model/page.ts';
import type { ConnectionId, Delivery, Queued, QueuedPublish, SessionRef } from '../model/session.ts';

/** How much the queue of one session may hold, and which messages it drops when it is full. */
export interface QueueLimits {
  readonly queueLengthMax: number;
  readonly queueBytesMax: number;
  readonly whenFull: 'drop-oldest' | 'drop-newest';
}

/** A packet of the client that ends the exchange of a message. */
export type CompletingPacket = 'puback' | 'pubrec' | 'pubcomp';

/**
 * The outcome of an acknowledgement. 'unknown': the packet id is not in use. 'out-of-place': the exchange has no such
 * packet at this point (PUBACK at QoS 2, PUBREC at QoS 1, PUBCOMP before PUBREC); nothing was changed. 'ended': the
 * connection has lost its session, so the message will be sent again; for PUBREC only.
 */
export type Acknowledged = 'done' | 'unknown' | 'out-of-place' | 'ended';

/** A message for some sessions, all at QoS 1 or 2. */
export interface Offer {
  readonly message: Message;
  readonly deliveries: readonly Delivery[];
  /** Deliveries whose connections are not ready. */
  readonly hold?: ReadonlySet<Delivery> | undefined;
}

/** The first step of `offerAll`: deliveries with a `packetId` may be sent; then `append` stores the others. */
export interface Offered {
  /**
   * Connections for which it is unknown whether they were sent one of the messages. The door closes each before
   * `append`: the client returns, and is sent the message again as MQTT says.
   */
  readonly uncertain: readonly ConnectionId[];
  /**
   * Connections for which messages wait. Their posts have to leave before `append`, since the client may dequeue a
   * message as soon as it is stored.
   */
  readonly waiting: readonly ConnectionId[];
  /** Stores the messages that wait. */
  append(): Awaitable<Appended>;
}

export interface Appended {
  /** How many messages were dropped, as `offer` returns it. */
  readonly dropped: number;
  /** As in `Offered`: found while the messages were appended. */
  readonly uncertain: readonly ConnectionId[];
  /** Connections whose clients have to be told to fetch: messages wait, and no reply has said so. */
  readonly unannounced: readonly ConnectionId[];
}

/**
 * The messages that the broker owes to sessions: those that wait (the queue), and those that were sent and are not
 * acknowledged (inflight). The window is the Receive Maximum of the session's attachment: at most so many PUBLISH
 * packets of QoS 1 and 2 are unacknowledged on one connection [MQTT-3.3.4-9] [MQTT-4.9.0-2].
 */
export interface QueueStore {
  /**
   * Takes responsibility for one message towards many sessions, all at QoS 1 or 2. A delivery gets a `packetId` and
   * may be sent at once if its session is attached, has nothing waiting and nothing to be sent again, has room in its
   * window, and is not in `hold`. The id is not in use, and not above `KEPT_PACKET_ID_MAX`. Every other delivery waits
   * in the queue, with `packetId` 0. Returns how many messages full queues have dropped; each delivery has its own
   * number as well (`dropped`).
   *
   * A fan-out may be repeated under the same message id, after a crash or at the same time. At QoS 2 the queue takes a
   * copy (`Delivery.copy`) only once, at least until the receipt of its message is marked as delivered
   * (`ReceivedStore.markDelivered`). If the copy was sent and is not acknowledged, a repetition may get its
   * `packetId`, with `dup` set; in a share group the delivery then names the member that has the copy. Any other
   * repetition keeps `packetId` 0, and is not stored.
   *
   * A delivery whose session is over is dropped. A delivery of a shared subscription then has `passOnAs`, unless a
   * member may have been sent the message, or the process that ended the session passes it on.
   *
   * The limits count waiting messages. 'drop-newest' drops the offered message. 'drop-oldest' drops from the front
   * until the offered message fits; if it would not fit into an empty queue, it is dropped itself.
   */
  offer(
    message: Message,
    deliveries: readonly Delivery[],
    limits: QueueLimits,
    hold?: ReadonlySet<Delivery>,
  ): Awaitable<number>;

  /**
   * `offer` for all messages of an event, in their order and in two steps: between them the door sends the messages
   * that got a `packetId`. Absent if `offer` stores, and the door sends at once.
   */
  offerAll?(offers: readonly Offer[], limits: QueueLimits): Awaitable<Offered>;

  /**
   * Dequeues the next page that may be sent; an empty one while the session is offline. First come the packets that
   * have to be sent again since `SessionStore.open` [MQTT-4.4.0-1], in their old order and under their packet ids
   * [MQTT-4.6.0-5]: messages with `dup` set, expired or not, since their delivery has begun; and PUBREL for a message
   * whose PUBREC has come. Then come the messages that wait; expired ones are deleted [MQTT-3.3.2-5], and may
   * make the page shorter. An empty page says that none may be sent now.
   *
   * Each entry carries the session's current connection. CONNECT has to be the first to call this: until then the
   * queue may take the previous connection for the current one.
   *
   * A message has a place in the window until it is complete. A PUBREL that is sent again takes no place, and a full
   * window does not hold it back [MQTT-3.3.4-10]; so it may overtake messages.
   */
  next(session: SessionRef, limit: PageLimit, nowMs: number): Awaitable<readonly Queued[]>;

  /**
   * The exchange of the message is complete: by the given answer of the client (a PUBREC here has an error), or
   * without one because the server gives the message up. Here and in `release` an id that was sent on an earlier
   * connection, and not yet again on this one, may be 'unknown'.
   */
  complete(session: SessionRef, packetId: PacketId, answer?: CompletingPacket): Awaitable<Acknowledged>;

  /**
   * PUBREC: the message will not be sent again [MQTT-4.3.3-6]. The id stays in use, with its place in the window,
   * until `complete`. The caller answers with PUBREL. A repeated call returns 'done' as well.
   *
   * A PUBREC of a connection that was taken over may come late, and its PUBREL would be lost there. So if the message
   * has not been sent again on the current connection, `next` returns the PUBREL in its place.
   */
  release(session: SessionRef, packetId: PacketId): Awaitable<Acknowledged>;

  /**
   * The messages that an ended incarnation leaves behind without an acknowledgement (PUBREC counts as one), oldest
   * first. A `packetId` other than 0 says that the message has been sent. Changes nothing: the caller passes them on
   * and then calls `clear`.
   */
  unacknowledged(session: SessionRef): Awaitable<readonly QueuedPublish[]>;

  /** Deletes everything of an incarnation. */
  clear(session: SessionRef): Awaitable<void>;

  /**
   * Whether `next` would return nothing. Absent if the store cannot tell at once.
   */
  isIdle?(session: SessionRef): boolean;

  /** How many messages wait, not counting those inflight. */
  length(session: SessionRef): Awaitable<number>;

  /**
   * Makes `next` dequeue messages that wait unnoticed, since the process that stored them died before it said so.
   * Absent if `next` always finds stored messages.
   */
  lookAgain?(session: SessionRef): Awaitable<void>;
}

/** The packet identifiers of QoS 2 messages that a client has sent and not yet released. */
export interface ReceivedStore {
  /**
   * Notes the first receipt of a packet id. `messageId` is that of the first receipt; a resend gets the same. 'new':
   * handle the message and then call `markDelivered`. 'pending': an earlier handler has begun, and perhaps not
   * finished, so handle it again under the same message id. 'delivered': the message was handed on, so only answer
   * again. 'over-limit': with this id more than `maximum` would be unreleased [MQTT-3.3.4-7]; it is not noted.
   */
  begin(
    session: SessionRef,
    packetId: PacketId,
    messageId: string,
    maximum: number,
  ): Awaitable<{ state: 'new' | 'pending' | 'delivered' | 'over-limit'; messageId: string }>;

  /**
   * Whether fewer than `maximum` ids are unreleased, so that a QoS 1 message may come on top [MQTT-3.3.4-7]. A store
   * where a look costs a read returns true: QoS 1 is answered before the next packet is handled.
   */
  hasRoom(session: SessionRef, maximum: number): Awaitable<boolean>;

  /** The message has been handed to its recipients. Does nothing for an unknown id. */
  markDelivered(session: SessionRef, packetId: PacketId): Awaitable<void>;

  /** PUBREL: the id may be used again. False when it was unknown. */
  release(session: SessionRef, packetId: PacketId): Awaitable<boolean>;

  clear(session: SessionRef): Awaitable<void>;
}

import type { PacketId } from '@apus/mqtt';
import type { Awaitable } from '../flow.ts';
import type { Message } from '../message.ts';
import type { Delivery, Queued, QueuedPublish, SessionRef } from '../session.ts';

/** How much one session's queue may hold, and what gives way when it is full. */
export interface QueueLimits {
  readonly queueLengthMax: number;
  readonly queueBytesMax: number;
  readonly whenFull: 'drop-oldest' | 'drop-newest';
}

/**
 * What a session has been promised and has not yet acknowledged: the messages that wait (the queue) and those that
 * were sent (inflight). The window is the Receive Maximum of the session's attachment: at most so many PUBLISH
 * packets of QoS 1 and 2 are unacknowledged on one connection [MQTT-3.3.4-9] [MQTT-4.9.0-2].
 */
export interface QueueStore {
  /**
   * Takes responsibility for one message towards many sessions, all at QoS 1 or 2. A delivery whose session is
   * attached, has nothing waiting, and has room in its window gets a `packetId` and may be sent at once, unless
   * `hold` names it; every other is left waiting with `packetId` 0. Returns how many messages were dropped
   * because a queue was full.
   */
  offer(
    message: Message,
    deliveries: readonly Delivery[],
    limits: QueueLimits,
    hold?: ReadonlySet<Delivery>,
  ): Awaitable<number>;

  /**
   * The connection is new: whatever is inflight has to be sent again, in its old order and before anything that
   * waits [MQTT-4.4.0-1] [MQTT-4.6.0-5].
   */
  rewind(session: SessionRef): Awaitable<void>;

  /** Draws what may be sent next, at most `limit`, and counts it against the window. Expired messages are skipped. */
  next(session: SessionRef, limit: number, nowMs: number): Awaitable<readonly Queued[]>;

  /** PUBACK, PUBCOMP, or a PUBREC with an error: the message is done with. False when the id is unknown. */
  complete(session: SessionRef, packetId: PacketId): Awaitable<boolean>;

  /** PUBREC: the payload is forgotten and the id stays in use until `complete`. False when the id is unknown. */
  release(session: SessionRef, packetId: PacketId): Awaitable<boolean>;

  /** Forgets all of an incarnation and returns what was never acknowledged, oldest first. */
  clear(session: SessionRef): Awaitable<readonly QueuedPublish[]>;

  /** How many messages wait, not counting those inflight. */
  length(session: SessionRef): Awaitable<number>;
}

/** The packet identifiers of QoS 2 messages that a client has sent and not yet released. */
export interface ReceivedStore {
  /**
   * Notes the first receipt of a packet id. `messageId` is what the first receipt was given: a resend repeats it.
   * 'new': handle it and then call `settle`. 'pending': it was begun and perhaps not finished, repeat it under the
   * same message id. 'settled': only answer again. 'over-limit': more than `maximum` are unreleased [MQTT-3.3.4-7].
   */
  begin(
    session: SessionRef,
    packetId: PacketId,
    messageId: string,
    maximum: number,
  ): Awaitable<{ state: 'new' | 'pending' | 'settled' | 'over-limit'; messageId: string }>;

  /** The message has been handed to its recipients. */
  settle(session: SessionRef, packetId: PacketId): Awaitable<void>;

  /** PUBREL: the id may be used again. False when it was not known. */
  release(session: SessionRef, packetId: PacketId): Awaitable<boolean>;

  clear(session: SessionRef): Awaitable<void>;
}

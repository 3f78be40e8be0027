import type { PacketId, ProtocolVersion, QoS } from '@apus/mqtt';
import { type Conflate, conflateOf } from './conflation.ts';
import type { Message } from './message.ts';
import type { Reader } from './streams/reader.ts';

/** Packet ids that a queue gives are not above this; the others are for messages that no store keeps. */
export const KEPT_PACKET_ID_MAX = 0x7fff;

/** Names one network connection; never used again. */
export type ConnectionId = string;

/** The facts about a network connection that are needed to send to it. */
export interface Attachment {
  readonly connectionId: ConnectionId;
  readonly protocolVersion: ProtocolVersion;
  /** The client's Receive Maximum, already bounded by the broker's own limit on inflight messages. */
  readonly receiveMaximum: number;
  /** The client's Maximum Packet Size in bytes. */
  readonly maximumPacketSize: number;
  /**
   * The client acknowledges no QoS 1 message, and the server stores none that it has sent: the session ends with this
   * connection, so the message could never be sent again. Not for shared subscriptions.
   */
  readonly keepsNothing: boolean;
  /** The door can tell the client that something waits, without sending it. @default false */
  readonly takesNudges?: boolean;
  /** From then on, in ms since the epoch, nothing is sent to it: its identity has expired. @default never */
  readonly expiresAtMs?: number;
  /** The holder of the connection, in a form that only the list of bans reads (`Bans.holderOf`). @default not known */
  readonly holder?: string;
  /** The connection whose readers it goes on with: its session has moved from there. @default its own */
  readonly readsOn?: ConnectionId;
}

/** The connection that the readers of an attachment are bound to. */
export function readsOnOf({ connectionId, readsOn = connectionId }: Attachment): ConnectionId {
  return readsOn;
}

/**
 * A session as a port handed it out. Everything a session owns is filed under `key` and `incarnation`:
 * a session that was discarded and made anew under the same client identifier is another incarnation.
 * It is data: a copy (of a connection that was stored, say) names the session as well as the original.
 */
export interface SessionRef {
  /** Tenant and client identifier in one string. */
  readonly key: string;
  readonly tenant: string;
  readonly clientId: string;
  readonly incarnation: string;
  /** The connection it had when it was read; undefined while it is offline. */
  readonly attachment: Attachment | undefined;
}

/** The same identifier is another client in each tenant [SEC-TENANT-2]. */
export function sessionKey(tenant: string, clientId: string): string {
  return `${tenant}\0${clientId}`;
}

/** A subscription as it is stored: its filter is without `$share/{group}/`, its QoS is the granted one. */
export interface Subscription {
  readonly topicFilter: string;
  readonly shareGroup: string | undefined;
  readonly qos: QoS;
  readonly noLocal: boolean;
  readonly retainAsPublished: boolean;
  readonly subscriptionIdentifier: number | undefined;
  /** Reads a stream, on one connection: it has no queue. @default a plain subscription */
  readonly reader?: Reader | undefined;
  /** At QoS 0: at most one message of each topic in this many milliseconds. @default each */
  readonly conflateMs?: number | undefined;
}

export interface Subscriber {
  readonly session: SessionRef;
  readonly subscription: Subscription;
}

/** One copy of a message for one session. The message itself is shared. */
export interface Delivery {
  readonly session: SessionRef;
  /** The lower of the message's QoS and the subscription's. */
  readonly qos: QoS;
  /** The RETAIN flag as this subscriber sees it. */
  readonly retain: boolean;
  readonly subscriptionIdentifiers: readonly number[] | undefined;
  /** The shared subscription that chose this session, so that the message can be passed on if the session ends. */
  readonly share: ShareName | undefined;
  /**
   * Names the copy among the copies of one message for one session, or for one share group. A repeated fan-out uses the
   * same name, even if subscriptions have changed meanwhile. At QoS 2 a queue takes a copy once.
   * @default undefined: a copy of its own, which no other repeats
   */
  readonly copy?: string;
  /** The subscription sends at most one message of each topic in an interval. */
  readonly conflate?: Conflate | undefined;
  /** The readers of a stream that it is for, none of which has a queue. @default a plain subscription */
  readonly readers?: readonly Reader[] | undefined;
  /**
   * A subscription that it is for reads a stream, in which nothing may be missing: a door that cannot hand it over
   * closes the connection, at QoS 0 too. @default false
   */
  readonly mustArrive?: boolean;
  /**
   * 0 at QoS 0. Otherwise given by the queue: 0 while the message waits there, a Packet Identifier once it may
   * be sent.
   */
  packetId: PacketId;
  dup: boolean;
  /**
   * Given by the queue to a copy of a shared subscription whose session has ended since it was chosen: another member is
   * to get it, under this name.
   */
  passOnAs?: string;
  /** Given by the queue where it was full: how many messages of the session gave way, this one or older ones. */
  dropped?: number;
}

/** The copy of a message that one subscription asks for, under the name that `Delivery.copy` has to have. */
export function deliveryOf(message: Message, { session, subscription }: Subscriber, copy: string): Delivery {
  const { qos, retainAsPublished, subscriptionIdentifier, shareGroup, topicFilter, reader } = subscription;
  const conflate = conflateOf(subscription);
  return {
    session,
    // The lower of the two [MQTT-3.8.4-8].
    qos: Math.min(message.qos, qos) as QoS,
    // Retain As Published keeps the flag [MQTT-3.3.1-13], otherwise it is cleared [MQTT-3.3.1-12].
    retain: message.retain && retainAsPublished,
    // [MQTT-3.3.4-3]
    subscriptionIdentifiers: subscriptionIdentifier === undefined ? undefined : [subscriptionIdentifier],
    share: shareGroup === undefined ? undefined : { shareGroup, topicFilter },
    copy,
    packetId: 0,
    dup: false,
    ...(reader !== undefined && { readers: [reader], mustArrive: true }),
    ...(conflate !== undefined && { conflate }),
  };
}

export interface ShareName {
  readonly shareGroup: string;
  readonly topicFilter: string;
}

/** A message that has been dequeued from a session's queue and may be sent now. */
export interface QueuedPublish {
  readonly type: 'publish';
  readonly message: Message;
  readonly delivery: Delivery;
}

/** A QoS 2 message whose PUBREC came and whose PUBREL has to be sent again. */
export interface QueuedPubrel {
  readonly type: 'pubrel';
  readonly packetId: PacketId;
}

export type Queued = QueuedPublish | QueuedPubrel;

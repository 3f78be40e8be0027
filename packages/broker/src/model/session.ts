import type { PacketId, ProtocolVersion, QoS } from '@apus/mqtt';

import type { Message } from './message.ts';

/** The largest packet id that a queue assigns. Larger ids are for messages that no store keeps. */
export const KEPT_PACKET_ID_MAX = 0x7fff;

/** Identifies one network connection; never reused. */
export type ConnectionId = string;

/** The facts about a network connection that are needed to send to it. */
export interface Attachment {
  readonly connectionId: ConnectionId;
  readonly protocolVersion: ProtocolVersion;
  /** The client's Receive Maximum, but at most the broker's limit on inflight messages. */
  readonly receiveMaximum: number;
  /** The client's Maximum Packet Size in bytes. */
  readonly maximumPacketSize: number;
  /**
   * The session ends with this connection, so a QoS 1 message could never be sent again: the server stores none, and
   * the client sends no PUBACK. Not for shared subscriptions.
   */
  readonly keepsNothing: boolean;
  /** The door can tell the client that messages wait (a nudge). @default false */
  readonly takesNudges?: boolean;
  /** When its identity expires, in ms since the epoch: nothing is sent to it afterwards. @default never */
  readonly expiresAtMs?: number;
  /** Identifies the client of the connection to the list of bans (`Bans.holderOf`). @default not known */
  readonly holder?: string;
  /** The connection to which its readers are bound, if the session has moved since. @default its own */
  readonly readsOn?: ConnectionId;
}

/** The connection that the readers of an attachment are bound to. */
export function readsOnOf({ connectionId, readsOn = connectionId }: Attachment): ConnectionId {
  return readsOn;
}

/**
 * A session as a port has read it. Everything that a session owns is filed under `key` and `incarnation`: a session
 * that is discarded and begun anew under the same client identifier is another incarnation. A copy of a ref, as in a
 * stored connection, names the session as well.
 */
export interface SessionRef {
  /** Tenant and client identifier in one string. */
  readonly key: string;
  readonly tenant: string;
  readonly clientId: string;
  readonly incarnation: string;
  /** The connection when the session was read. Undefined: it was offline. */
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
  /** The subscription reads a stream, on one connection, and needs no queue. @default a plain subscription */
  readonly reader?: Reader | undefined;
  /** At QoS 0: at most one message of each topic in this many milliseconds. @default each message */
  readonly conflateMs?: number | undefined;
  /** Only messages that fit this condition (`Conditions`). @default each message */
  readonly where?: string | undefined;
}

export interface Subscriber {
  readonly session: SessionRef;
  readonly subscription: Subscription;
}

/** One copy of a message for one session. All copies share the message. */
export interface Delivery {
  readonly session: SessionRef;
  /** The lower of the message's QoS and the subscription's. */
  readonly qos: QoS;
  /** The RETAIN flag as this subscriber sees it. */
  readonly retain: boolean;
  readonly subscriptionIdentifiers: readonly number[] | undefined;
  /** The shared subscription that chose this session. If the session ends, another member gets the message. */
  readonly share: ShareName | undefined;
  /**
   * Names the copy among the copies of one message for one session, or for one share group. A repeated fan-out uses
   * the same name, even if subscriptions have changed meanwhile. At QoS 2 a queue takes a copy once. @default
   * undefined: nothing repeats the copy
   */
  readonly copy?: string;
  /** The subscription gets at most one message of each topic in an interval. @default each message */
  readonly conflate?: Conflate | undefined;
  /** The readers of a stream for which it is. They have no queue. @default a plain subscription */
  readonly readers?: readonly Reader[] | undefined;
  /**
   * A reader of a stream may miss nothing: a door that cannot send the message closes the connection, also at QoS 0.
   * @default false
   */
  readonly mustArrive?: boolean;
  /**
   * 0 at QoS 0. Otherwise the queue assigns it: 0 while the message waits, a Packet Identifier when it may be sent.
   */
  packetId: PacketId;
  dup: boolean;
  /**
   * Set by the queue if the session has ended since it was chosen from a share group: another member has to get the
   * copy, under this name.
   */
  passOnAs?: string;
  /** Set by a full queue: how many messages of the session it has dropped, this one or older ones. */
  dropped?: number;
}

/** The copy of a message for one subscription. `copy`: its name, see `Delivery.copy`. */
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

/** A message that was dequeued and may be sent now. */
export interface QueuedPublish {
  readonly type: 'publish';
  readonly message: Message;
  readonly delivery: Delivery;
}

/** A QoS 2 message whose PUBREC has come, and whose PUBREL has to be sent again. */
export interface QueuedPubrel {
  readonly type: 'pubrel';
  readonly packetId: PacketId;
}

export type Queued = QueuedPublish | QueuedPubrel;

/** A filter that matches a topic name, with its subscribers. */
export interface MatchedFilter {
  readonly topicFilter: string;
  /** The share group: one of the subscribers gets the message. */
  readonly shareGroup?: string | undefined;
  /** Valid until the caller next waits for a port. */
  readonly subscribers: readonly Subscriber[];
  /** Set if some of the subscribers have a condition: by these. @default none has one */
  readonly conditions?: ReadonlyMap<string, unknown> | undefined;
  /** Further subscribers stand in this many shards, which `FanOut` serves. Absent: there are no others. */
  readonly shards?: number;
  /** The workers of these shards are far behind. */
  readonly isBehind?: boolean;
  /** Intervals of the filter's conflated groups (`ConflatedGroups`) that have no armed tick. @default none */
  readonly unarmedMs?: readonly number[];
}

export interface FilterName {
  readonly topicFilter: string;
  readonly shareGroup?: string | undefined;
}

/** A subscription that reads a stream, on one connection. */
export interface Reader {
  readonly connectionId: ConnectionId;
  /** Whether a new message goes to the reader now. If not, it is read from history later. */
  takes(
    session: SessionRef,
    entry: EntryName,
    connections: { isReady(connectionId: ConnectionId): boolean },
  ): boolean;
}

/** Identifies an entry of a topic. */
export interface EntryName {
  readonly epoch: string;
  readonly number: number;
  readonly message: Pick<Message, 'topic'>;
}

/** False: the session has come back on another connection. */
export function isOnItsConnection({ connectionId }: Reader, { attachment }: SessionRef): boolean {
  return attachment !== undefined && readsOnOf(attachment) === connectionId;
}

/** Identifies the subscription by which a delivery is conflated. */
export interface Conflate {
  readonly topicFilter: string;
  readonly ms: number;
}

/** The fields of a subscription by which its deliveries are conflated. */
export function conflateOf({ topicFilter, conflateMs }: Subscription): Conflate | undefined {
  return conflateMs === undefined ? undefined : { topicFilter, ms: conflateMs };
}

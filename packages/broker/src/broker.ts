import type { Packet, PublishProperties, QoS, Violation } from '@apus/mqtt';
import type { SendResult, StoreResult } from './deliver/deliver.ts';
import type { Loss } from './ending/grace.ts';
import type { Expulsion } from './model/bans.ts';
import type { Awaitable } from './model/flow.ts';
import type { Identity, Publisher } from './model/identity.ts';
import type { Connection, Link } from './model/link.ts';
import type { Message, MessageId } from './model/message.ts';
import type { EventClock } from './model/message-clock.ts';
import type { MessageOrigin } from './model/message-origin.ts';
import type { OrderedPublish } from './model/publish-order.ts';
import type { DeliveryPayer } from './model/quota-holder.ts';
import type { ConnectionId, MatchedFilter, SessionRef } from './model/session.ts';
import type { LostConnection } from './moving/resume.ts';
import type { ConflatedGroup, Routed, SessionRecord, Timer } from './ports/index.ts';
import type { SavedReader } from './streams/saved.ts';

export type { Loss };

/** A message from outside MQTT: over HTTP, or from the program that runs the broker. */
export interface PublishRequest {
  readonly tenant: string;
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: QoS;
  readonly retain: boolean;
  readonly properties: PublishProperties;
  /** The publisher that is charged for the deliveries. @default none */
  readonly publisher?: Publisher;
  /** Time has passed since the publisher was allowed the message: it is asked again. @default false */
  readonly hasWaited?: boolean;
  /** A stream takes the message once, however often its source hands it over. @default it comes once */
  readonly origin?: MessageOrigin | undefined;
  /** The message among those that its publisher publishes at the same time. @default it is the only one */
  readonly ordered?: OrderedPublish | undefined;
}

/** The outcome of an accepted message. */
export interface PublishReceipt {
  readonly messageId: MessageId;
  readonly outcome: 'delivered' | 'no-matching-subscribers';
}

/**
 * The broker as a door uses it. For one link the door makes the calls (`receive`, `lost`, `disconnect`, `drain`) one
 * after another: each when the previous one has returned, or its promise has resolved. Links are independent of each
 * other.
 */
export interface Broker {
  /** Handles one packet, or the violation that the decoder has found. */
  receive(link: Link, packet: Packet | Violation): Awaitable<void>;
  /** The network connection ended, closed by either side. `why` is for the log. */
  lost(link: Link, why: string, loss?: Loss): Awaitable<void>;
  /**
   * A connection has ended and its session still names it: for the sweep, or a timer. Returns false, and does nothing,
   * when the session has another connection, or none.
   */
  lostUnnoticed(
    tenant: string,
    clientId: string,
    connectionId: ConnectionId,
    loss?: Loss,
  ): Awaitable<boolean>;
  /**
   * Deletes what an ended incarnation has left in the stores, after a crash.
   */
  discardEnded(session: SessionRef): Awaitable<void>;
  /** Ends a link for a reason of the server's: keep alive, shutdown, an administrator. The will is published. */
  disconnect(link: Link, reasonCode: number, reason: string): Awaitable<void>;
  /**
   * Ends a client's connection for the operator, wherever it is. With `endsSession` it also ends a session that waits
   * for its client. Returns false when there was nothing to end, or `isMeant` says that the client is another one: the
   * identifier may have got another owner since the caller looked.
   */
  expel(
    tenant: string,
    clientId: string,
    expulsion: Expulsion,
    isMeant?: (record: SessionRecord) => boolean,
  ): Awaitable<boolean>;
  /**
   * The connection that replaces `before` when its client goes on over the new `link`. Returns a `Violation` if the
   * client may not. Changes nothing: the door saves the connection, ends the former one, and calls `takeSession`.
   *
   * @param isReading the client reads streams, and goes on reading them @default false
   */
  connectionAfterMove(link: Link, before: Connection, isReading?: boolean): Connection | Violation;
  /**
   * Moves a session from connection `from` to that of `link`. False when another connection has taken the session over.
   *
   * @param mayHaveOtherRules ends the subscriptions that the identity is no longer allowed
   */
  takeSession(link: Link, from: ConnectionId, mayHaveOtherRules: boolean): Awaitable<boolean>;
  /**
   * Lets a client that has lost its connection go on over `link`, whose state has the connection of
   * `connectionAfterMove`, and sends the waiting and inflight messages. False when the session is over, has another
   * connection, or its will has been published.
   */
  resumeSession(link: Link, lost: LostConnection, mayHaveOtherRules: boolean): Awaitable<boolean>;
  /** The link is ready again: sends the messages that wait for its session. */
  drain(link: Link): Awaitable<void>;
  /** The door has lost its memory while the link lived on: its readers of streams go on (`savedReadersOf`). */
  goOnReading(link: Link, readers: readonly SavedReader[]): Awaitable<void>;
  /** The rules of an identity have changed: ends those of the session's subscriptions that are not allowed any more. */
  recheck(session: SessionRef, identity: Identity): Awaitable<void>;
  /** The clock that orders messages. A door with several processes passes its time from one to the other. */
  readonly messageClock: EventClock;
  /** Handles a timer that is due. It counts as due even where the wall clock has gone back since it was set. */
  fire(timer: Timer, dueAtMs?: number): Awaitable<void>;
  /** Tells the watchers of a room its changes: for `PresenceTicks`. */
  tellRoom(tenant: string, room: string): Awaitable<void>;
  /** A room has changed, and this process tells its watchers: now, or at a tick. See `Presence.hand`. */
  roomChanged(tenant: string, room: string): Awaitable<void>;
  /** Sends a group the newest message of each topic that has changed: for `ConflatedGroups`. */
  tellConflated(group: ConflatedGroup, tickId: string): Awaitable<void>;
  /**
   * Delivers a message that `FanOut` has taken to some of the subscribers of a wide filter: for the worker that has
   * read them. `isRepeat`: an earlier attempt may have reached some of them.
   */
  serve(message: Message, subscribers: MatchedFilter, isRepeat: boolean): Awaitable<void>;
  /**
   * Delivers a message that another process has accepted to the subscribers of this process, who are in `matched`. The
   * payer is charged for the deliveries.
   */
  relay(
    tenant: string,
    message: Message,
    matched: readonly MatchedFilter[],
    payer?: DeliveryPayer,
  ): Awaitable<void>;
  /**
   * Publishes for the server itself, or for a publisher whom the caller has authorised (`mayPublish`). Returns a
   * `Violation` when the request is no valid PUBLISH, or exceeds a quota (0x97). At a door with an outbox the
   * deliveries leave when the outbox is committed.
   */
  publish(request: PublishRequest): Awaitable<PublishReceipt | Violation>;
  /**
   * For a door with an `Outbox`: offers the gathered messages to the queues, and gives the connections those that may
   * be sent. When these have left, and the door has closed the connections whose delivery state is unknown, the door
   * calls `append`.
   */
  deliverAll(routed: readonly Routed[]): Awaitable<SendResult>;
  /** Stores the messages that have to wait. From then on the publishers may be answered. */
  append(sent: SendResult): Awaitable<StoreResult>;
}

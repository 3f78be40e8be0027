import type { DisconnectPacket, Packet } from '@apus/mqtt';
import type { Awaitable } from '../model/flow.ts';
import type { Message } from '../model/message.ts';
import type { ConnectionId, Delivery } from '../model/session.ts';

/** Why a delivery was not sent. */
export type PushFailure =
  /** The connection is gone. */
  | 'gone'
  /** The packet is larger than the client's Maximum Packet Size, or than the door can carry [MQTT-3.1.2-24]. */
  | 'too-large'
  /** The door could not hand it over in the time it has: a QoS 0 message is dropped. */
  | 'slow';

export interface FailedPush {
  readonly delivery: Delivery;
  readonly failure: PushFailure;
}

/** Sends to network connections: to that of the packet being handled, and to others. */
export interface Connections {
  /**
   * Whether the connection takes more now. A door that buffers says no above its limit. The broker then drops QoS 0,
   * and QoS 1 and 2 wait in the queue until the door calls `Broker.drain`. True for a connection that is gone:
   * `publish` reports that.
   */
  isReady(connectionId: ConnectionId): boolean;

  /**
   * Whether a message of QoS 1 or 2 has to wait in the queue, because a page of the queue is on its way to the client
   * [MQTT-4.6.0-6]. The door then tells the client to fetch. Absent if nothing overtakes a page.
   */
  isPageUnderWay?(connectionId: ConnectionId): boolean;

  /**
   * Sends one message to many connections: one call, no promise for each recipient, one encoding for all recipients
   * whose packets are alike. The broker has asked `isReady` before, so a door that buffers drops nothing here. The
   * door sets Topic Alias and the remaining Message Expiry Interval. Returns the deliveries that failed, or undefined.
   * Messages for one connection leave in the order of the calls.
   */
  publish(message: Message, deliveries: readonly Delivery[]): Awaitable<readonly FailedPush[] | undefined>;

  /** Sends one packet. False when the connection is gone. */
  send(connectionId: ConnectionId, packet: Packet): Awaitable<boolean>;

  /** Sends DISCONNECT, where one is given, then closes. Does nothing when the connection is gone. */
  close(connectionId: ConnectionId, disconnect: DisconnectPacket | undefined): Awaitable<void>;
}

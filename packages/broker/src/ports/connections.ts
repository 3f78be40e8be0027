import type { DisconnectPacket, Packet } from '@apus/mqtt';
import type { Awaitable } from '../flow.ts';
import type { Message } from '../message.ts';
import type { ConnectionId, Delivery } from '../session.ts';

/** Why a delivery did not leave. */
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

/** Sending to network connections other than the one whose packet is being handled, and to that one too. */
export interface Connections {
  /**
   * Whether the connection takes more now. A door that buffers says no above its limit; the broker then drops QoS 0
   * and lets QoS 1 and 2 wait in the session's queue until the door calls `Broker.drain`. True for a connection that
   * is not there (any more): `publish` will tell.
   */
  isReady(connectionId: ConnectionId): boolean;

  /**
   * Whether a message of QoS 1 or 2 has to wait in the session's queue, as a page of that is on its way to the client
   * [MQTT-4.6.0-6]. The door then tells the client to fetch. Absent where nothing overtakes a page.
   */
  isPageUnderWay?(connectionId: ConnectionId): boolean;

  /**
   * Sends one message to many connections: one call, no promise per recipient, one encoding for all whose packets
   * are alike. The broker has asked `isReady` before: nothing is dropped for slowness here by a door that buffers.
   * Topic aliases and the remaining Message Expiry Interval are the door's, at the moment of sending. Returns those that failed, or undefined when none did. Messages to one connection leave in the order
   * of the calls.
   */
  publish(message: Message, deliveries: readonly Delivery[]): Awaitable<readonly FailedPush[] | undefined>;

  /** Sends one packet. False when the connection is gone. */
  send(connectionId: ConnectionId, packet: Packet): Awaitable<boolean>;

  /** Sends DISCONNECT, where one is given, then closes. Does nothing when the connection is gone. */
  close(connectionId: ConnectionId, disconnect: DisconnectPacket | undefined): Awaitable<void>;
}

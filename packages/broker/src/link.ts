import type { ConnectPacket, Packet, ProtocolVersion } from '@apus/mqtt';
import type { Identity, Peer } from './ports/index.ts';
import type { ConnectionId, SessionRef } from './session.ts';

/** What CONNECT and CONNACK agreed on. */
export interface Connection {
  readonly session: SessionRef;
  readonly protocolVersion: ProtocolVersion;
  readonly identity: Identity;
  /** As the server counts it: its own Server Keep Alive where it set one. 0: none. */
  readonly keepAliveSeconds: number;
  readonly expirySeconds: number;
  readonly requestProblemInformation: boolean;
  readonly authenticationMethod: string | undefined;
  readonly hasWill: boolean;
}

/**
 * Where a network connection stands. Plain data: a door whose next packet may be handled by another process stores
 * it with the connection.
 */
export type LinkState =
  | { readonly phase: 'new' }
  | {
      readonly phase: 'authenticating';
      readonly connect: ConnectPacket;
      readonly method: string;
      readonly methodState: unknown;
    }
  | {
      readonly phase: 'connected';
      readonly connection: Connection;
      /** Set while the client re-authenticates. */
      readonly reauthentication?: { readonly methodState: unknown };
    }
  | { readonly phase: 'closed' };

/** One network connection, as a door shows it to the broker. */
export interface Link {
  readonly id: ConnectionId;
  readonly peer: Peer;
  /** Kept by the door for the broker, which alone changes it. */
  state: LinkState;
  /** Topic aliases that the client has set: in the door's memory; absent on a door that offers none. */
  readonly topicAliases?: Map<number, string>;
  /** Sends a packet to the client, behind everything that was sent before. */
  send(packet: Packet): void;
  /**
   * Closes the network connection once everything sent has left. Never calls back into the broker before it
   * returns; `Broker.lost` of a link in phase 'closed' does nothing.
   */
  close(): void;
}

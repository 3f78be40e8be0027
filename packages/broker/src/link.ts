import type { ConnectPacket, Packet, ProtocolVersion } from '@apus/mqtt';
import type { Awaitable } from './flow.ts';
import type { Identity, Peer } from './ports/index.ts';
import type { ConnectionId, SessionRef, Subscription } from './session.ts';
import type { PastRoom } from './streams/read-at-once.ts';

/** The connection as CONNECT and CONNACK agreed on it. */
export interface Connection {
  readonly session: SessionRef;
  readonly protocolVersion: ProtocolVersion;
  readonly identity: Identity;
  /** As the server counts it: its own Server Keep Alive where it set one. 0: none. */
  readonly keepAliveSeconds: number;
  readonly expirySeconds: number;
  readonly requestProblemInformation: boolean;
  /** The client's Maximum Packet Size in bytes. */
  readonly maximumPacketSize: number;
  /** The client's Topic Alias Maximum: how many aliases a door may set towards it. 0: none. */
  readonly topicAliasMaximum: number;
  readonly authenticationMethod: string | undefined;
  /** When CONNECT was accepted, in ms since the epoch. */
  readonly connectedAtMs: number;
  /** CONNACK said that the session was present: the client's packets may be repetitions. */
  readonly isResumed: boolean;
  /** The Will Delay Interval of the will that CONNECT brought, 0 where it has none; undefined: it brought no will. */
  readonly willDelaySeconds: number | undefined;
  /** The client has made members of rooms present. @default false */
  readonly isPresent?: boolean;
  /** How long after a loss the session waits for its client, where it would end before. @default 0 */
  readonly resumeSeconds?: number;
  /** The client says DISCONNECT by the code with which it closes the network connection. @default false */
  readonly endsByClose?: boolean;
}

/** The peer, for the log, which counts by these names: the same in each line of a connection, and none is a secret [SEC-LOG-4]. */
export function namesOf({ id, peer, state }: Pick<Link, 'id' | 'peer' | 'state'>) {
  return {
    connectionId: id,
    address: peer.address,
    ...(state.phase === 'connected' && namesOfConnection(state.connection)),
  };
}

function namesOfConnection({ identity, session }: Connection) {
  return { tenant: identity.tenant, name: identity.name, clientId: session.clientId };
}

/** A session, for the log, with the connection that it had when it was read. */
export function namesOfSession({ attachment, tenant, clientId }: SessionRef) {
  return { connectionId: attachment?.connectionId, tenant, clientId };
}

/** Retained messages on their way to one new subscription, as far as the connection and the window take them. */
export interface Replay {
  readonly subscription: Subscription;
  /** Where the next page begins. */
  readonly from: string | undefined;
}

/**
 * Where a network connection stands. Plain data: a door whose next packet may be handled by another process stores
 * it with the connection.
 */
export type LinkState =
  | {
      readonly phase: 'new';
      /** The identity that the door verified in the handshake, if another process handles CONNECT. */
      readonly identity?: Identity;
    }
  | {
      readonly phase: 'authenticating';
      readonly connect: ConnectPacket;
      readonly methodState: unknown;
      /** The extensions of the wire that the frame with CONNECT offered; the door keeps them here. @default none */
      readonly offered?: readonly string[];
    }
  | {
      readonly phase: 'connected';
      readonly connection: Connection;
      /** Something waits for the session that the link had no room for: a further `Broker.drain` sends it. */
      readonly isDraining: boolean;
      /** Retained messages that new subscriptions have not been sent yet. */
      readonly replays: readonly Replay[];
      /**
       * It has subscribed to a stream, in which it may miss nothing unnoticed: after a loss its session is not resumed
       * without its knowledge. @default false
       */
      readonly isReading?: boolean;
      /** Set while the client re-authenticates. */
      readonly reauthentication?: { readonly methodState: unknown };
      /** The door's: the extensions of its wire, where CONNECT came with the handshake. @default CONNECT came later */
      readonly agreed?: readonly string[];
      /** The door's: what the first reply brings, in base64, where CONNECT came with the handshake. @default nothing */
      readonly waiting?: string;
      /** The door's: proves who may move the session to another connection. @default it cannot be moved */
      readonly ticket?: string;
    }
  | {
      readonly phase: 'closed';
      /** The state that it had. Absent once the store has forgotten it. */
      readonly before?: LinkState;
      /** The connection that its session has moved to. @default it has ended */
      readonly movedTo?: ConnectionId;
      /** Its client had lost it before: the session's queue sent its messages anew there. @default false */
      readonly isResumed?: boolean;
      /** More messages have come for its client since than the store keeps (`LinkStore.keep`). @default false */
      readonly hasMissed?: boolean;
    };

/** One network connection, as a door shows it to the broker. */
export interface Link {
  readonly id: ConnectionId;
  readonly peer: Peer;
  /** Kept by the door for the broker, which alone changes it. */
  state: LinkState;
  /** The door can tell this client that something waits, without sending it. Read with CONNECT. @default false */
  readonly takesNudges?: boolean;
  /**
   * Called before messages are dequeued for this link. Where another handler's messages could overtake them, those wait
   * from now on (`Connections.isPageUnderWay`) [MQTT-4.6.0-6]. Returns a function to be called where nothing was
   * dequeued. @default nothing overtakes them
   */
  beforePage?(): Awaitable<(() => void) | undefined>;
  /** Topic aliases that the client has set: in the door's memory; absent on a door that offers none. */
  readonly topicAliases?: Map<number, string>;
  /** Subscriptions that read streams, by topic filter: in the door's memory; absent where another process may handle the next packet. */
  readonly readers?: Map<string, Subscription>;
  /** There are some. @default `readers` says */
  readonly isReading?: boolean;
  /**
   * Calls `Broker.drain` for this link when its turn comes. On a door with `readers`.
   * @default its readers are sent each message
   */
  drainSoon?(): void;
  /** The past of streams that SUBACKs bring, on a door without `readers`. @default it reads no streams */
  readonly pastRoom?: PastRoom;
  /** Bytes of MQTT packets that it takes now before something has to leave; 0 or less: none. */
  roomBytes(): number;
  /**
   * The queue cannot be read for the moment: the link has no room until the client's next packet, so that the present
   * one does not wait for the queue twice. Absent on a door whose ports are always available.
   */
  putOff?(): void;
  /** Sends a packet to the client, encoded for its version, behind everything that was sent before. Drops nothing. */
  send(packet: Packet, version: ProtocolVersion): void;
  /**
   * Closes the network connection once everything sent has left, after a DISCONNECT of the client's or by the server's
   * decision, and hands over no further packet. Never calls back into the broker before it
   * returns; `Broker.lost` of a link in phase 'closed' does nothing.
   *
   * @param tryAgainBecause why the client is turned away for now, where a transport can say so
   */
  close(endedBy: 'client' | 'server', tryAgainBecause?: string): void;
}

/** Whether it has subscriptions that read streams: most links have none, and a door makes `readers` when it is asked for. */
export function isReading({ isReading: known, readers }: Link): boolean {
  return known ?? (readers !== undefined && readers.size > 0);
}

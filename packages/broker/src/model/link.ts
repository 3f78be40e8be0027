import type { ConnectPacket, Packet, ProtocolVersion } from '@apus/mqtt';
import type { Awaitable } from './flow.ts';
import type { Identity, Peer } from './identity.ts';
import type { PublishOrder } from './publish-order.ts';
import type { ConnectionId, SessionRef, Subscription } from './session.ts';

/** The connection as CONNECT and CONNACK agreed on it. */
export interface Connection {
  readonly session: SessionRef;
  readonly protocolVersion: ProtocolVersion;
  readonly identity: Identity;
  /** The Keep Alive in force: the Server Keep Alive if the server set one. 0: none. */
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
  /** The Will Delay Interval of the will in CONNECT, 0 if the will has none. Undefined: CONNECT brought no will. */
  readonly willDelaySeconds: number | undefined;
  /** The client has made members of rooms present. @default false */
  readonly isPresent?: boolean;
  /** How long after a loss the session waits for its client, if it would end earlier. @default 0 */
  readonly resumeSeconds?: number;
  /** The client says DISCONNECT by the close code of its network connection. @default false */
  readonly endsByClose?: boolean;
}

/**
 * The names of a client for the log. They are the same in each line of a connection, since the log counts by them, and
 * none is secret [SEC-LOG-4].
 */
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

/** The names of a session for the log, with the connection that it had when it was read. */
export function namesOfSession({ attachment, tenant, clientId }: SessionRef) {
  return { connectionId: attachment?.connectionId, tenant, clientId };
}

/**
 * The retained messages that one new subscription has not been sent yet, and what they are sent with. A door may store
 * thousands of these with the link.
 */
export interface Replay
  extends Pick<Subscription, 'topicFilter' | 'qos' | 'subscriptionIdentifier' | 'where'> {
  /** The cursor of the next page. */
  readonly from: string | undefined;
  /** The session's record names its filter. @default false */
  readonly isNoted?: boolean;
}

/**
 * The state of a network connection. It is plain data: a door where another process may handle the next packet stores
 * it with the connection.
 */
export type LinkState =
  | {
      readonly phase: 'new';
      /** The identity that the handshake has shown, if another process handles CONNECT. */
      readonly identity?: Identity;
    }
  | {
      readonly phase: 'authenticating';
      readonly connect: ConnectPacket;
      readonly methodState: unknown;
      /** Extensions of text frames that the client has offered with CONNECT. Only the door uses them. @default none */
      readonly offered?: readonly string[];
    }
  | {
      readonly phase: 'connected';
      readonly connection: Connection;
      /** Messages wait for the session that the link had no room for: a further `Broker.drain` sends them. */
      readonly isDraining: boolean;
      /** Retained messages that new subscriptions have not been sent yet. */
      readonly replays: readonly Replay[];
      /**
       * The client has subscribed to a stream, in which it may miss nothing unnoticed: after a loss the session is
       * resumed only if the client knows. @default false
       */
      readonly isReading?: boolean;
      /** Set while the client re-authenticates. */
      readonly reauthentication?: { readonly methodState: unknown };
      /**
       * Extensions of text frames in force, if CONNECT came with the handshake. Only the door uses them. @default
       * CONNECT came later
       */
      readonly agreed?: readonly string[];
      /**
       * Packets for the first reply, in base64, if CONNECT came with the handshake. Only the door uses them. @default
       * none
       */
      readonly waiting?: string;
      /**
       * A hash of the ticket with which the client may move the session. Only the door uses it. @default it cannot be
       * moved
       */
      readonly ticket?: string;
    }
  | {
      readonly phase: 'closed';
      /** The last state before the end. Absent once the store has forgotten it. */
      readonly before?: LinkState;
      /** The connection that its session has moved to. @default it has ended */
      readonly movedTo?: ConnectionId;
      /**
       * The client had lost the connection before: the session's queue sent its messages again on the new one.
       * @default false
       */
      readonly isResumed?: boolean;
      /** More messages have come for the client since then than the store keeps (`LinkStore.keep`). @default false */
      readonly hasMissed?: boolean;
    };

/** The Topic Aliases that a client has set. */
export interface ClientTopicAliases {
  get(alias: number): string | undefined;
  /** False: the door has no room for the topic. */
  set(alias: number, topic: string): boolean;
}

/** One network connection, as a door shows it to the broker. */
export interface Link {
  readonly id: ConnectionId;
  readonly peer: Peer;
  /** The door stores it; only the broker changes it. */
  state: LinkState;
  /** The door can tell the client that messages wait (a nudge). Read at CONNECT. @default false */
  readonly takesNudges?: boolean;
  /**
   * Called before messages are dequeued for this link. If another handler's posts could overtake these messages, the
   * posts wait from now on (`Connections.isPageUnderWay`) [MQTT-4.6.0-6]. Returns a function to be called if nothing
   * was dequeued. @default no post overtakes a page
   */
  beforePage?(): Awaitable<(() => void) | undefined>;
  /** Topic aliases that the client has set: in the door's memory; absent on a door that offers none. */
  readonly topicAliases?: ClientTopicAliases;
  /**
   * Subscriptions that read streams, by topic filter: in the door's memory; absent where another process may handle
   * the next packet.
   */
  readonly readers?: Map<string, Subscription>;
  /** The link has readers of streams. @default `readers` is not empty */
  readonly isReading?: boolean;
  /**
   * Has `Broker.drain` called for this link in turn. On a door with `readers`. @default its readers are sent each
   * message
   */
  drainSoon?(): void;
  /**
   * Lets the client's messages at QoS 1 be accepted while those before them wait for an engine. @default they are accepted one after
   * another
   */
  readonly publishOrder?: PublishOrder | undefined;
  /** The broker may be given the next PUBLISH at QoS 1 or PUBACK, before the present one has been answered. */
  goOn?(): void;
  /** Room for past messages of streams in the SUBACKs, on a door without `readers`. @default it reads no streams */
  readonly pastRoom?: PastRoom;
  /**
   * Long work for this link ends here, and goes on in a later turn: the door calls `Broker.drain` then, or has the client
   * fetch the rest. @default there is no end
   */
  takeTurn?(): void;
  /** The link waits for that turn. */
  readonly waitsForTurn?: boolean;
  /** Bytes of MQTT packets that the link takes now. 0 or less: none, until some have left. */
  roomBytes(): number;
  /**
   * The queue is unavailable: the link has no room until the client's next packet, so that this packet does not wait
   * for the queue twice. Absent on a door whose ports are always available.
   */
  putOff?(): void;
  /** Sends a packet to the client, encoded for its version, after all packets sent before. Drops nothing. */
  send(packet: Packet, version: ProtocolVersion): void;
  /**
   * Closes the network connection when everything sent has left: after the client's DISCONNECT, or by decision of the
   * server. No further packet of the client reaches the broker. `close` does not call the broker before it returns;
   * `Broker.lost` does nothing for a link in phase 'closed'.
   *
   * @param tryAgainBecause why the client is turned away for now, for transports that can tell it
   */
  close(endedBy: 'client' | 'server', tryAgainBecause?: string): void;
}

/** Whether it has subscriptions that read streams: most links have none, and a door makes `readers` when it is asked for. */
export function isReading({ isReading: known, readers }: Link): boolean {
  return known ?? (readers !== undefined && readers.size > 0);
}

/** How much of the past the SUBACKs of one exchange may still bring. */
export interface PastRoom {
  messages: number;
  /** Counts topics, payloads and properties, and the positions of SUBACKs. */
  bytes: number;
  /** Bytes of the positions of one SUBACK, which is sent as one packet. */
  readonly positionBytes: number;
}

import type { LimitRange } from '@apus/broker';

/** The limits of the door, beside the broker's. Every default has a reason; each is an option. */
export interface NodeLimits {
  /**
   * WebSocket connections at a time. Beyond it the handshake is answered 503. Each takes an open file: 18,000 leave
   * room under a limit of 20,000 for closing connections, for HTTP and for the runtime.
   */
  readonly connectionsMax: number;
  /**
   * Connections of one address (of IPv6 a /64) without an accepted CONNECT. Beyond it the oldest of them is cut. 0: half
   * of what the door takes, as a load generator opens thousands at once; where all places are taken, another address
   * gets one of those anyway.
   */
  readonly pendingPerAddressMax: number;
  /** From the WebSocket's opening to CONNACK. Then it is closed with 1008. */
  readonly connectTimeoutSeconds: number;
  /** From the TCP connection to the end of the HTTP handshake. */
  readonly handshakeTimeoutSeconds: number;
  /** Request line and headers of a handshake. Beyond it: 431. */
  readonly handshakeBytesMax: number;
  /**
   * One WebSocket message, which may hold many packets. It is larger than any allowed packet, so that a packet just
   * over its limit is answered with MQTT's 0x95 and not with WebSocket's 1009.
   */
  readonly webSocketMessageBytesMax: number;
  /**
   * Bytes that one client may send before CONNACK: 128 KiB hold the largest will (64 KiB) and a token. A larger
   * CONNECT is refused with 0x95 (MQTT 5) or closed, before all of it has come.
   */
  readonly connectBytesMax: number;
  /** Bytes of one client that the broker has not taken yet. Beyond it the socket is not read. */
  readonly inboundBufferBytesMax: number;
  /**
   * Bytes that all clients together have begun to send: incomplete WebSocket messages and packets, and those that
   * wait. Beyond it connections are ended with 0x97, first those that have held most for longest. 64 MiB are eight of
   * the largest WebSocket messages.
   */
  readonly inboundTotalBytesMax: number;
  /**
   * Bytes that were sent to one client and that it has not read. Beyond it QoS 0 is dropped, QoS 1 and 2 wait in the
   * session's queue, and nothing more is read from that client.
   */
  readonly outboundBufferBytesMax: number;
  /**
   * Bytes that were sent to all clients together and that they have not read. While it fills, each client may leave
   * less unread; beyond it connections are cut, first those that have left most unread for longest.
   */
  readonly outboundTotalBytesMax: number;
  /**
   * How long a client may send more than its identity's quotas allow, although it is read no faster. Then it is
   * disconnected with 0x96, and comes back by itself. A minute is a large upload, or a loop. 0: for ever.
   */
  readonly overdraftSecondsMax: number;
  /**
   * Bytes that the process keeps for all clients: retained messages, queued and inflight ones, subscriptions by their
   * levels, sessions and wills. Beyond it new messages are refused (0x97), and accepted ones are delivered. 0: half of
   * the heap's limit, or of the machine's memory if that is less.
   */
  readonly memoryBytesMax: number;
  /**
   * Bytes of it that queued and inflight messages of one tenant may take. Beyond it a message that would be queued is
   * refused (0x97), and no accepted one is lost. 0: half of all.
   */
  readonly tenantQueueBytesMax: number;
  /** How long a client may take to answer a WebSocket close before the TCP connection is cut. */
  readonly closeTimeoutSeconds: number;
  /** How long a shutdown waits for clients to go. Below the 10 s after which container runtimes kill. */
  readonly shutdownTimeoutSeconds: number;
}

export const DEFAULT_NODE_LIMITS: NodeLimits = {
  connectionsMax: 18_000,
  pendingPerAddressMax: 0,
  connectTimeoutSeconds: 10,
  handshakeTimeoutSeconds: 10,
  handshakeBytesMax: 16 * 1024,
  webSocketMessageBytesMax: 8 * 1024 * 1024,
  connectBytesMax: 128 * 1024,
  inboundBufferBytesMax: 256 * 1024,
  inboundTotalBytesMax: 64 * 1024 * 1024,
  outboundBufferBytesMax: 1024 * 1024,
  outboundTotalBytesMax: 512 * 1024 * 1024,
  overdraftSecondsMax: 60,
  memoryBytesMax: 0,
  tenantQueueBytesMax: 0,
  closeTimeoutSeconds: 5,
  shutdownTimeoutSeconds: 5,
};

/** Limits for which 0 is invalid: the door could not work with it. */
export const NODE_LIMIT_RANGES: { readonly [K in keyof NodeLimits]?: LimitRange } = {
  connectionsMax: { least: 1 },
  connectTimeoutSeconds: { least: 1 },
  handshakeTimeoutSeconds: { least: 1 },
  handshakeBytesMax: { least: 1 },
  webSocketMessageBytesMax: { least: 1 },
  connectBytesMax: { least: 1 },
  inboundBufferBytesMax: { least: 1 },
  inboundTotalBytesMax: { least: 1 },
  outboundBufferBytesMax: { least: 1 },
  outboundTotalBytesMax: { least: 1 },
};

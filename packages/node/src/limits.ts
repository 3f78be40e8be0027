/** What the door itself allows, beside the broker's own limits. Every default has a reason; each is an option. */
export interface NodeLimits {
  /**
   * WebSocket connections at a time. Beyond it the handshake is answered 503. Each holds an open file: 18,000 leave
   * room under a limit of 20,000 for those that are closing, for HTTP and for the runtime's own.
   */
  readonly connectionsMax: number;
  /** From the WebSocket's opening to CONNACK. Then it is closed with 1008. */
  readonly connectTimeoutSeconds: number;
  /** From the TCP connection to the end of the HTTP handshake. */
  readonly handshakeTimeoutSeconds: number;
  /** Request line and headers of a handshake. Beyond it: 431. */
  readonly handshakeBytesMax: number;
  /**
   * One WebSocket message, which may carry many packets. Larger than any packet that is allowed, so that one just
   * over that limit is answered with MQTT's 0x95 rather than WebSocket's 1009.
   */
  readonly webSocketMessageBytesMax: number;
  /** What one client has sent and the broker has not taken. Beyond it the socket is not read. */
  readonly inboundBufferBytesMax: number;
  /**
   * What one client has been sent and does not read. Beyond it QoS 0 is dropped, QoS 1 and 2 wait in the session's
   * queue, and nothing more is read from that client.
   */
  readonly outboundBufferBytesMax: number;
  /** How long a client may take to answer a WebSocket close before the TCP connection is cut. */
  readonly closeTimeoutSeconds: number;
  /** How long a shutdown waits for clients to go. Below the 10 s after which container runtimes kill. */
  readonly shutdownTimeoutSeconds: number;
}

export const DEFAULT_NODE_LIMITS: NodeLimits = {
  connectionsMax: 18_000,
  connectTimeoutSeconds: 10,
  handshakeTimeoutSeconds: 10,
  handshakeBytesMax: 16 * 1024,
  webSocketMessageBytesMax: 8 * 1024 * 1024,
  inboundBufferBytesMax: 256 * 1024,
  outboundBufferBytesMax: 1024 * 1024,
  closeTimeoutSeconds: 5,
  shutdownTimeoutSeconds: 5,
};

/** Limits of the cloud, and of this process. Each is an option; the defaults are AWS's if there are any. */
export interface EmulatorLimits {
  /** One WebSocket frame from a client (quota "WebSocket frame size"). Beyond it: close 1009. */
  readonly frameBytesMax: number;
  /** One message from a client, in any number of frames, and one message to it (quota "Message payload size"). */
  readonly messageBytesMax: number;
  /** Frames of one fragmented message. Ours: AWS names none. Beyond it: close 1008. */
  readonly fragmentsPerMessageMax: number;
  /**
   * Bytes of all clients together of messages that are not whole. Ours: AWS names none. Beyond it: close 1008, first
   * of those that began first. 64 MiB are 500 of the largest messages at a time.
   */
  readonly unfinishedBytesMax: number;
  /**
   * From the TCP connection, or a request's first byte, to the end of the request. Ours; real time, as the network is.
   * Beyond it: 408.
   */
  readonly requestTimeoutMs: number;
  /** Request line and headers. Ours: Node.js's own. Beyond it: 431. */
  readonly requestHeaderBytesMax: number;
  /** The URL of a handshake, in characters (quota). Beyond it: 414. */
  readonly urlCharactersMax: number;
  /** No message in either direction for this long closes with 1001. Not raisable at AWS. */
  readonly idleTimeoutMs: number;
  /** The life of a connection. Then it closes with 1001. Not raisable at AWS. */
  readonly connectionDurationMs: number;
  /** Handshakes per second and account, raisable at AWS. Beyond it: 429. */
  readonly newConnectionsPerSecond: number;
  /** The account's throttle, which messages and @connections calls share. Newer Regions have 2,500. */
  readonly requestsPerSecond: number;
  /** The burst on top of the rate. Newer Regions have 1,250. */
  readonly requestsBurst: number;
  /** An integration that takes longer is given up: "Endpoint request timed out". Not raisable at AWS. */
  readonly integrationTimeoutMs: number;
  /** Concurrent executions of the account. New accounts often have 10. Beyond it an invocation fails. */
  readonly concurrentExecutionsMax: number;
  /** The bytes of a REQUEST authorizer's answer, as JSON. */
  readonly authorizerResultBytesMax: number;
  /** How far a request's X-Amz-Date may be from the verifier's time. */
  readonly signatureSkewMs: number;
  /** Bytes that one client was sent and has not read. Beyond it posts get 429. AWS says neither how many. */
  readonly clientBufferBytesMax: number;
  /** The bytes of a request to the @connections API before its socket is cut: the payload limit of API Gateway. */
  readonly requestBytesMax: number;
  /** Concurrent WebSocket connections of this process. Ours, against a runaway test. Beyond it: 503. */
  readonly connectionsMax: number;
  /** Messages of one connection that wait for an invocation or run in one. Ours. Beyond it: close 1008. */
  readonly pendingMessagesPerConnectionMax: number;
  /** From so many of them on the socket is not read. Ours: API Gateway reads on, and AWS has executions for all. */
  readonly messagesReadAheadMax: number;
  /** Management requests of frozen and dead environments that are held. Ours. Beyond it their sockets are cut. */
  readonly heldRequestsMax: number;
}

export const DEFAULT_LIMITS: EmulatorLimits = {
  frameBytesMax: 32 * 1024,
  messageBytesMax: 128 * 1024,
  fragmentsPerMessageMax: 1_024,
  unfinishedBytesMax: 64 * 1024 * 1024,
  requestTimeoutMs: 10_000,
  requestHeaderBytesMax: 16 * 1024,
  urlCharactersMax: 4_096,
  idleTimeoutMs: 10 * 60 * 1000,
  connectionDurationMs: 2 * 60 * 60 * 1000,
  newConnectionsPerSecond: 500,
  requestsPerSecond: 10_000,
  requestsBurst: 5_000,
  integrationTimeoutMs: 29_000,
  concurrentExecutionsMax: 1_000,
  authorizerResultBytesMax: 8 * 1024,
  signatureSkewMs: 5 * 60 * 1000,
  clientBufferBytesMax: 1024 * 1024,
  requestBytesMax: 10 * 1024 * 1024,
  connectionsMax: 10_000,
  pendingMessagesPerConnectionMax: 1_000,
  messagesReadAheadMax: 1_000,
  heldRequestsMax: 1_000,
};

/** TCP connections besides `connectionsMax`: callers of the @connections API, handshakes that will be refused. */
export const HTTP_CONNECTIONS_MAX = 1_000;

/** Messages are billed by 32 KB begun. */
export const BILLED_MESSAGE_BYTES = 32 * 1024;

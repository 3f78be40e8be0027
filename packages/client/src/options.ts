import { systemTimers, type Timers } from './environment.ts';
import type { TransportError } from './errors.ts';
import { HEARTBEAT_SECONDS_MAX } from './limits.ts';
import { currentPage, type Page } from './page.ts';
import { loadWebSocket, type WebSocketClass } from './web-socket.ts';

/** The events that the transport reports to `onEvent`. */
export type TransportEvent =
  /** CONNACK accepted the client. */
  | { readonly type: 'connected' }
  /** The session has moved to a new connection. The program notices nothing. */
  | { readonly type: 'moved' }
  /** The session has not moved yet, and stays on its connection; `why` is for a log. */
  | { readonly type: 'not-moved'; readonly why: string }
  /**
   * The connection is lost, and the transport tries to resume the session over another. The program notices nothing;
   * `why` is for a log.
   */
  | { readonly type: 'resuming'; readonly code: number; readonly why: string }
  /** The transport has resumed the session over another connection. */
  | { readonly type: 'resumed' }
  /**
   * After a loss messages may be missing: messages for the program up to this QoS (undefined: none), and so many of its
   * own QoS 0 messages.
   */
  | { readonly type: 'gap'; readonly qos: 0 | 1 | undefined; readonly published: number }
  /** The server has taken a new token. The connection goes on with it. */
  | { readonly type: 'renewed' }
  /** There is no new token yet. The connection lasts as long as the old one is valid. */
  | { readonly type: 'not-renewed'; readonly error: TransportError }
  /** The transport has given the connection up, or refused a packet. */
  | { readonly type: 'error'; readonly error: TransportError }
  /** The socket is closed: the code, its meaning, and the number of packets that had not left. */
  | {
      readonly type: 'closed';
      readonly code: number;
      readonly reason: string;
      readonly advice: string;
      readonly packetsUnsent: number;
    };

/** The options of a transport. Each has a default. */
export interface TransportOptions {
  /**
   * The longest time without a frame that asks for a reply, in seconds. Then the transport sends a PINGREQ, and gives
   * the connection up if the server does not answer. So the option bounds how late this client notices a dead network.
   * A PINGREQ and its answer are two billed messages. With more than 540 the transport keeps the connection open with a
   * frame without an answer every nine minutes, for one billed message; a server that does not know such frames gets a
   * PINGREQ every nine minutes instead.
   * @default 2160, which is also the most; the least is 1
   */
  readonly heartbeatSeconds?: number;
  /**
   * How long PUBACK and PUBCOMP wait for another frame to travel with, in milliseconds.
   * @default 100
   */
  readonly acknowledgeDelayMs?: number;
  /**
   * How long a reply may take before the transport gives the connection up, in seconds. A handler lives for up to 5
   * seconds, so a lower value loses replies that would still have come.
   * @default 8
   */
  readonly replyTimeoutSeconds?: number;
  /**
   * Returns a token for each connection. The transport also calls it before a token ends, when 75 to 90 % of its
   * remaining life have passed. The token of a new connection travels in the URL, since browsers can set no header.
   */
  readonly token?: () => string | Promise<string>;
  /**
   * The query parameter that holds the token.
   * @default 'token'
   */
  readonly tokenParameter?: string;
  /**
   * Signs the URL of each connection, for a deployment that takes AWS credentials (Signature Version 4). A signature is
   * valid for five minutes, so each reconnection needs a new one.
   */
  readonly signUrl?: (url: string) => string | Promise<string>;
  /**
   * The WebSocket class to use.
   * @default globalThis.WebSocket; in Node.js 20, which has none, the package `ws` that mqtt.js brings
   */
  readonly WebSocket?: WebSocketClass;
  /** Called with each event, never from within a call of yours. */
  readonly onEvent?: (event: TransportEvent) => void;
  /**
   * A random number from 0 to less than 1; for tests.
   * @default Math.random
   */
  readonly random?: () => number;
  /** The clock and the timers; for tests. */
  readonly timers?: Timers;
  /** Window and document to listen to; for tests. */
  readonly page?: Page;
}

export interface Settings {
  readonly heartbeatSeconds: number;
  readonly acknowledgeDelayMs: number;
  readonly replyTimeoutMs: number;
  readonly token: TransportOptions['token'];
  readonly tokenParameter: string;
  readonly signUrl: NonNullable<TransportOptions['signUrl']>;
  readonly webSocketClass: () => Promise<WebSocketClass>;
  readonly onEvent: (event: TransportEvent) => void;
  readonly random: () => number;
  readonly timers: Timers;
  readonly page: Page;
}

/** @throws RangeError if a number is out of its range */
export function settingsFrom(options: TransportOptions): Settings {
  const {
    heartbeatSeconds = HEARTBEAT_SECONDS_MAX,
    acknowledgeDelayMs = 100,
    replyTimeoutSeconds = 8,
  } = options;
  const given = options.WebSocket;
  return {
    heartbeatSeconds: inRange('heartbeatSeconds', heartbeatSeconds, 1, HEARTBEAT_SECONDS_MAX),
    acknowledgeDelayMs: inRange('acknowledgeDelayMs', acknowledgeDelayMs, 0, 60_000),
    replyTimeoutMs: inRange('replyTimeoutSeconds', replyTimeoutSeconds, 1, 60) * 1_000,
    token: options.token,
    tokenParameter: options.tokenParameter ?? 'token',
    signUrl: options.signUrl ?? ((url) => url),
    webSocketClass: given === undefined ? loadWebSocket : () => Promise.resolve(given),
    onEvent: options.onEvent ?? (() => {}),
    random: options.random ?? Math.random,
    timers: options.timers ?? systemTimers,
    page: options.page ?? currentPage(),
  };
}

function inRange(name: string, value: number, least: number, most: number): number {
  if (value >= least && value <= most) return Math.floor(value);
  throw new RangeError(`${name} must be a number from ${least} to ${most}, not ${value}`);
}

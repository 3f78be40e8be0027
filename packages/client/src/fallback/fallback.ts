import { systemTimers, type Timers } from '../environment.ts';
import type { MqttSocket } from '../mqtt-socket.ts';
import { loadWebSocket, type WebSocketClass } from '../web-socket.ts';
import type { Carrier, Wire } from './carrier.ts';
import { FallbackSocket } from './fallback-socket.ts';
import { Opening, type Way } from './opening.ts';

export interface FallbackOptions {
  /**
   * Whether HTTP requests carry MQTT where no WebSocket opens.
   * @default true
   */
  readonly http?: boolean;
  /** Called at each connection with its wire. */
  readonly onWire?: (wire: Wire) => void;
  /**
   * The WebSocket class to use.
   * @default globalThis.WebSocket; in Node.js 20, which has none, the package `ws` that mqtt.js brings
   */
  readonly WebSocket?: WebSocketClass;
  /** The clock and the timers; for tests. */
  readonly timers?: Timers;
}

/** Facts about the connections of one client. The object is live. */
export interface FallbackStatistics {
  /** The carrier of the present connection, or of the last one. Undefined: none has opened. */
  readonly wire: Wire | undefined;
  /** Connections that opened, by their wire. */
  readonly opened: Readonly<Record<Wire, number>>;
  /** HTTP requests. */
  readonly requests: number;
  /** A proxy holds responses back: each message comes with a response of its own. */
  readonly isBuffered: boolean;
}

/** The sockets of one mqtt.js client: it remembers whether WebSockets get through. */
export interface Fallback {
  /** The value for mqtt.js's option of that name. */
  readonly createWebsocket: (
    url: string,
    protocols: readonly string[],
    options: { readonly wsOptions?: object },
  ) => MqttSocket;
  readonly statistics: FallbackStatistics;
}

/**
 * Makes the sockets of an mqtt.js client at the node door: WebSockets, or HTTP requests behind a proxy that lets no
 * WebSocket through.
 *
 * ```ts
 * const { createWebsocket } = createFallback();
 * const client = mqtt.connect('wss://example.test/mqtt', { createWebsocket });
 * ```
 */
export function createFallback(options: FallbackOptions = {}): Fallback {
  const { http: mayUseHttp = true, onWire = () => {}, timers = systemTimers } = options;
  const path = { isBuffered: false, requests: 0 };
  const way: Way = { path, timers, blockedAtMs: undefined };
  const opened = { websocket: 0, http: 0 };
  let wire: Wire | undefined;
  const given = options.WebSocket;
  const webSocketClass = given === undefined ? loadWebSocket() : Promise.resolve(given);
  const told = (carrier: Carrier) => {
    wire = carrier.wire;
    opened[wire] += 1;
    timers.defer(() => onWire(carrier.wire));
  };
  return {
    statistics: {
      get wire() {
        return wire;
      },
      opened,
      get requests() {
        return path.requests;
      },
      get isBuffered() {
        return path.isBuffered;
      },
    },
    createWebsocket(url, protocols, { wsOptions }) {
      const fallback = new FallbackSocket(timers, told);
      webSocketClass.then(
        (WebSocket) =>
          fallback.open(
            () => new Opening({ url, protocols, wsOptions, WebSocket, way, mayUseHttp }, fallback),
          ),
        (error: unknown) => fallback.closed(1006, String(error)),
      );
      return fallback.socket;
    },
  };
}

import { Connection } from './connection.ts';
import { OFFER, OFFER_ONCE } from './limits.ts';
import type { MqttSocket } from './mqtt-socket.ts';
import { settingsFrom, type TransportEvent, type TransportOptions } from './options.ts';
import type { Memory } from './outbound.ts';
import { typeOf } from './packet.ts';
import * as PacketType from './packet-type.ts';
import { ReconnectPolicy } from './reconnect-policy.ts';
import { boundSubscribes, type ErrorReceiver, tellRefused, tooLarge } from './refuse.ts';
import { newStatistics, type Statistics } from './statistics.ts';

/** The options of mqtt.js that the transport reads and writes. */
export interface ClientOptions {
  /** 0: never reconnect. Otherwise the transport sets it, in milliseconds, before each reconnect. */
  reconnectPeriod?: number;
  /** Whether the library returns after a CONNACK that refuses. The transport sets it if another attempt may succeed. */
  reconnectOnConnackError?: boolean;
  /** Passed to the WebSocket class as its third argument: for `ws`, e.g. certificates. */
  readonly wsOptions?: object;
}

/** The transport of one mqtt.js client. It holds the state that survives a reconnect: share it with no other client. */
export interface Transport {
  /** The value for mqtt.js's option of that name. */
  readonly createWebsocket: (
    url: string,
    subprotocols: readonly string[],
    options: ClientOptions,
  ) => MqttSocket;
  /**
   * Reports refused packets to their callbacks, and errors to the client's `error` event. Lets the client's SUBSCRIBEs
   * fit into packets. `connect` calls it.
   */
  attach(client: ErrorReceiver): void;
  /** The counts until now. The object is live. */
  readonly statistics: Readonly<Statistics>;
}

/**
 * Makes the transport of one mqtt.js client. Most programs use `connect`, which does this and the rest.
 *
 * ```ts
 * const transport = createTransport({ token: () => fetchToken() });
 * const client = mqtt.connect('wss://example.test/mqtt', { createWebsocket: transport.createWebsocket });
 * transport.attach(client);
 * ```
 *
 * @throws RangeError for an option out of its range
 */
export function createTransport(options: TransportOptions = {}): Transport {
  const settings = settingsFrom(options);
  const { timers, onEvent } = settings;
  const memory: Memory = {
    clock: undefined,
    holdPublish: false,
    token: undefined,
    sparesHandshake: false,
    isUnrenewable: false,
  };
  const statistics = newStatistics();
  const reconnects = new ReconnectPolicy(settings.random);
  let client: ErrorReceiver | undefined;
  let setsComeBack = false;

  const report = (event: TransportEvent): void => {
    timers.defer(() => {
      onEvent(event);
      if (event.type === 'error') client?.emit('error', event.error);
    });
  };

  return {
    statistics,
    attach(mqttClient) {
      client = mqttClient;
      boundSubscribes(mqttClient);
    },
    createWebsocket(url, _subprotocols, mqttOptions) {
      const isSingle = mqttOptions.reconnectPeriod === 0;
      const reconnectAfter = (waitMs: number): number => {
        if (!isSingle) mqttOptions.reconnectPeriod = waitMs;
        return waitMs;
      };
      const begin = (): number => reconnectAfter(reconnects.begin());
      begin();
      if (setsComeBack) mqttOptions.reconnectOnConnackError = false;
      setsComeBack = false;
      const connection = new Connection({
        url,
        offer: isSingle ? OFFER_ONCE : OFFER,
        webSocketOptions: mqttOptions.wsOptions,
        settings,
        memory,
        statistics,
        report,
        refused(packet) {
          const error = tooLarge(packet);
          if (typeOf(packet.bytes) === PacketType.CONNECT) return error;
          // Deferred: mqtt.js registers a packet's callback only after it has written the packet.
          timers.defer(() => {
            onEvent({ type: 'error', error });
            if (client !== undefined) tellRefused(client, packet, error);
          });
          return undefined;
        },
        begin,
        comeBack() {
          setsComeBack = !mqttOptions.reconnectOnConnackError;
          mqttOptions.reconnectOnConnackError = true;
        },
        stable: () => void reconnectAfter(reconnects.stable()),
      });
      void connection.open();
      return connection.socket;
    },
  };
}

import type { IClientOptions, MqttClient } from 'mqtt';
import type { TransportOptions } from './options.ts';
import { createTransport, type Transport } from './transport.ts';

/** The part of the module `mqtt` that is used. It is passed in, so that no bundler brings a second one. */
export interface MqttModule {
  connect(url: string, options: IClientOptions): MqttClient;
}

/**
 * In browsers mqtt.js checks after this many milliseconds whether it may write again. (It stops writing above
 * `browserBufferSize`, 512 KiB by default: half a second of full frames.)
 */
const BUFFER_LOOK_MS = 25;

/**
 * Connects to the gateway door, or to a server that speaks MQTT in binary messages. The client is an ordinary one of
 * mqtt.js; all of its options may be given, and win over those that are set here, except `createWebsocket`.
 *
 * ```ts
 * import { connect } from '@apus/client';
 * import mqtt from 'mqtt';
 *
 * const client = connect(mqtt, 'ws://127.0.0.1:8084/mqtt', { protocolVersion: 5 });
 * client.on('message', (topic, payload) => console.log(topic, payload.toString()));
 * await client.subscribeAsync('greetings/#');
 * await client.publishAsync('greetings/hello', 'world', { qos: 1 });
 * ```
 *
 * @param mqtt the module `mqtt`, version 5.16 or later
 * @param url of the door, `ws:` or `wss:`
 * @param transport options for a transport, or one that was made for this client
 */
export function connect(
  mqtt: MqttModule,
  url: string,
  options: IClientOptions = {},
  transport: TransportOptions | Transport = {},
): MqttClient {
  const own = 'createWebsocket' in transport ? transport : createTransport(transport);
  const client = mqtt.connect(url, {
    browserBufferTimeout: BUFFER_LOOK_MS,
    ...options,
    createWebsocket: own.createWebsocket,
  });
  own.attach(client);
  return client;
}

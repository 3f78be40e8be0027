import { connect as connectInTextFrames, type TransportOptions } from '@apus/client';
import * as mqtt from 'mqtt';
import { doorUnderTest } from './door.ts';

/** mqtt.js, connected to the door under test as its users connect it: at the gateway door through the transport. */
export function connectMqttJs(
  url: string,
  options: mqtt.IClientOptions,
  transport: TransportOptions = {},
): mqtt.MqttClient {
  return doorUnderTest === 'gateway'
    ? connectInTextFrames(mqtt, url, options, transport)
    : mqtt.connect(url, options);
}

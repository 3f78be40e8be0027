import { connect as connectInTextFrames } from '@apus/client';
import * as mqtt from 'mqtt';
import { doorUnderTest } from './door.ts';

/** Stock mqtt.js, as its users connect it to the door under test: at the gateway door through the transport. */
export function connectMqttJs(url: string, options: mqtt.IClientOptions): mqtt.MqttClient {
  return doorUnderTest === 'gateway' ? connectInTextFrames(mqtt, url, options) : mqtt.connect(url, options);
}

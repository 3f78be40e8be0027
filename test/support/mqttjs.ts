import { connect as connectInTextFrames, type TransportOptions } from '@apus/client';
import { createFallback } from '@apus/client/fallback';
import * as mqtt from 'mqtt';
import { doorUnderTest, isHttpUnderTest } from './door.ts';
import { BlockedWebSocket } from './http-wire.ts';

/** mqtt.js, connected to the door under test as its users connect it: at the gateway door through the transport. */
export function connectMqttJs(
  url: string,
  options: mqtt.IClientOptions,
  transport: TransportOptions = {},
): mqtt.MqttClient {
  if (doorUnderTest === 'gateway') return connectInTextFrames(mqtt, url, options, transport);
  if (!isHttpUnderTest) return mqtt.connect(url, options);
  const { createWebsocket } = createFallback({ WebSocket: BlockedWebSocket });
  return mqtt.connect(url, { ...options, createWebsocket });
}

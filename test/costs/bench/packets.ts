import { parser as createParser, generate } from 'mqtt-packet';
import type { Fields, Received } from '../../support/text-client.ts';

const MQTT_5 = { protocolVersion: 5 } as const;

export function encodePackets(packets: readonly Fields[]): Buffer {
  return Buffer.concat(packets.map((packet) => generate(packet as never, MQTT_5 as never)));
}

export function decodePackets(bytes: Buffer): Received[] {
  const packets: Received[] = [];
  const parser = createParser(MQTT_5 as never);
  parser.on('packet', (packet) => packets.push(packet as Received));
  parser.parse(bytes);
  return packets;
}

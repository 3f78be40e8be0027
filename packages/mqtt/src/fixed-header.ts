import type { PacketType } from './packets.ts';
import { ReasonCode } from './reason-codes.ts';
import { Violation } from './violation.ts';

/** Who reads the packet: some packets, properties and reason codes travel in one direction only. */
export type Role = 'server' | 'client';

/** MQTT Control Packet types (table 2-1): the high four bits of the first byte. Type 0 is reserved. */
export const PACKET_TYPES: readonly (PacketType | undefined)[] = [
  undefined,
  'connect',
  'connack',
  'publish',
  'puback',
  'pubrec',
  'pubrel',
  'pubcomp',
  'subscribe',
  'suback',
  'unsubscribe',
  'unsuback',
  'pingreq',
  'pingresp',
  'disconnect',
  'auth',
];

const SENT_BY_SERVER_ONLY: ReadonlySet<PacketType> = new Set(['connack', 'suback', 'unsuback', 'pingresp']);
const SENT_BY_CLIENT_ONLY: ReadonlySet<PacketType> = new Set([
  'connect',
  'subscribe',
  'unsubscribe',
  'pingreq',
]);

/** The low four bits where they are reserved (table 2-2); a PUBLISH has its own. */
function reservedFlags(type: PacketType): number {
  return type === 'pubrel' || type === 'subscribe' || type === 'unsubscribe' ? 0b0010 : 0b0000;
}

export function packetTypeOf(firstByte: number): PacketType | undefined {
  return PACKET_TYPES[firstByte >> 4];
}

/** What is wrong with the first byte alone; it is checked before a single byte of the packet is kept. */
export function firstByteViolation(firstByte: number, receiver: Role): Violation | undefined {
  const type = packetTypeOf(firstByte);
  const flags = firstByte & 0x0f;
  if (type === undefined) return new Violation(ReasonCode.MalformedPacket, 'Packet type 0 is reserved');
  if (type === 'publish') return publishFlagsViolation(flags);
  if (flags !== reservedFlags(type)) {
    // [MQTT-2.1.3-1] [MQTT-3.6.1-1] [MQTT-3.8.1-1] [MQTT-3.10.1-1] [MQTT-3.14.1-1] [MQTT-3.15.1-1]
    const expected = reservedFlags(type);
    return new Violation(ReasonCode.MalformedPacket, `The flags of ${type} are ${expected}, not ${flags}`);
  }
  const wrongWay = receiver === 'server' ? SENT_BY_SERVER_ONLY : SENT_BY_CLIENT_ONLY;
  if (wrongWay.has(type)) {
    return new Violation(ReasonCode.ProtocolError, `A ${receiver} is not sent ${type}`);
  }
  return undefined;
}

function publishFlagsViolation(flags: number): Violation | undefined {
  const qos = (flags >> 1) & 0b11;
  // [MQTT-3.3.1-4]
  if (qos === 3) return new Violation(ReasonCode.MalformedPacket, 'A PUBLISH has QoS 0, 1 or 2, not 3');
  // [MQTT-3.3.1-2]
  if (qos === 0 && (flags & 0b1000) !== 0) {
    return new Violation(ReasonCode.MalformedPacket, 'A PUBLISH of QoS 0 is never a duplicate');
  }
  return undefined;
}

import type { PacketType, ProtocolVersion } from './packets.ts';
import { ReasonCode } from './reason-codes.ts';
import { Violation } from './violation.ts';

/** The side that reads the packet: some packets, properties and reason codes travel in one direction only. */
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

const HAS_FLAGS_0010: ReadonlySet<PacketType> = new Set(['pubrel', 'subscribe', 'unsubscribe']);

/** The low four bits where they are reserved (table 2-2); a PUBLISH has its own. */
function reservedFlags(type: PacketType): number {
  return HAS_FLAGS_0010.has(type) ? 0b0010 : 0b0000;
}

export const FLAG_DUP = 0b1000;

/** MQTT 3.1 marks these packets too when it sends them again (its section 2.1). */
export function mayBeDuplicate(type: PacketType, version: ProtocolVersion | undefined): boolean {
  return version === 3 && HAS_FLAGS_0010.has(type);
}

export function packetTypeOf(firstByte: number): PacketType | undefined {
  return PACKET_TYPES[firstByte >> 4];
}

/** The violation in the first byte alone; it is checked before any byte of the packet is kept. */
export function firstByteViolation(
  firstByte: number,
  receiver: Role,
  version: ProtocolVersion | undefined,
): Violation | undefined {
  const type = packetTypeOf(firstByte);
  if (type === undefined) return new Violation(ReasonCode.MalformedPacket, 'Packet type 0 is reserved');
  if (type === 'publish') return publishFlagsViolation(firstByte & 0x0f);
  const flags = firstByte & (mayBeDuplicate(type, version) ? 0x0f & ~FLAG_DUP : 0x0f);
  if (flags !== reservedFlags(type)) {
    // [MQTT-2.1.3-1] [MQTT-3.6.1-1] [MQTT-3.8.1-1] [MQTT-3.10.1-1] [MQTT-3.14.1-1] [MQTT-3.15.1-1] [MQTT3-3.14.1-1]
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
  // [MQTT-3.3.1-4] [MQTT3-3.3.1-4]
  if (qos === 3) return new Violation(ReasonCode.MalformedPacket, 'A PUBLISH has QoS 0, 1 or 2, not 3');
  // [MQTT-3.3.1-2]
  if (qos === 0 && (flags & FLAG_DUP) !== 0) {
    return new Violation(ReasonCode.MalformedPacket, 'A PUBLISH of QoS 0 is never a duplicate');
  }
  return undefined;
}

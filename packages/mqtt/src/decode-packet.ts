import { packetTypeOf, type Role } from './fixed-header.ts';
import { fixedHeaderLength, packetLength } from './framer.ts';
import { fromMqttPacket } from './from-mqtt-packet.ts';
import { type InspectedType, inspect } from './inspect.ts';
import { PACKET_SIZE_MAX } from './limits.ts';
import type { AcknowledgementPacket, Packet, PacketType, ProtocolVersion } from './packets.ts';
import { readAcknowledgement } from './read-acknowledgement.ts';
import { readConnect } from './read-connect.ts';
import { readPublish } from './read-publish.ts';
import { PacketReader } from './reader.ts';
import { ReasonCode } from './reason-codes.ts';
import { Violation } from './violation.ts';

/**
 * Decodes the bytes of exactly one packet. Never throws, for any bytes.
 *
 * Binary fields, the payload among them, are views of `bytes`.
 */
export function decodePacket(
  bytes: Uint8Array,
  version: ProtocolVersion,
  receiver: Role = 'server',
): Packet | Violation {
  const options = { maximumPacketSize: PACKET_SIZE_MAX, receiver, protocolVersion: version };
  const length = packetLength(bytes, 0, bytes.length, options);
  if (length instanceof Violation) return length;
  if (length !== bytes.length) {
    return new Violation(ReasonCode.MalformedPacket, `${bytes.length} bytes are not one packet`);
  }
  return decodeRange(bytes, 0, bytes.length, version, receiver, false);
}

/**
 * Decodes a packet that the framer has cut: its first byte and its length are known to be right.
 *
 * @param copies whether binary fields are copies instead of views
 */
export function decodeRange(
  bytes: Uint8Array,
  start: number,
  end: number,
  version: ProtocolVersion,
  receiver: Role,
  copies: boolean,
): Packet | Violation {
  const firstByte = bytes[start] ?? 0;
  const type = packetTypeOf(firstByte);
  const short =
    end - start === SHORT_ACKNOWLEDGEMENT_BYTES ? shortAcknowledgement(bytes, start, type) : undefined;
  if (short !== undefined) return short;
  const reader = new PacketReader(bytes, start + fixedHeaderLength(bytes, start), end, copies);
  switch (type) {
    // These packets and CONNECT are nearly all of the traffic. The strict walk sees every field of them, so it builds
    // the packet itself, and saves mqtt-packet's second pass over the same bytes.
    case 'connect':
      return finish(reader, readConnect(reader));
    case 'publish':
      return finish(reader, readPublish(reader, firstByte, version, receiver));
    case 'puback':
    case 'pubrec':
    case 'pubrel':
    case 'pubcomp':
      return finish(reader, readAcknowledgement(reader, type, version, receiver));
    case 'pingreq':
    case 'pingresp':
      return finish(reader, { type });
    case undefined:
      return new Violation(ReasonCode.MalformedPacket, 'Packet type 0 is reserved');
    default: {
      const view = bytes.subarray(start, end);
      return decodeOther(copies ? Buffer.from(view) : view, type, version, receiver);
    }
  }
}

/** A header of two bytes and the Packet Identifier: nearly every acknowledgement (3.4.2.1). */
const SHORT_ACKNOWLEDGEMENT_BYTES = 4;

/** Frozen, since all of them share it. */
const NO_PROPERTIES = Object.freeze({});

/**
 * Reads a short acknowledgement in place: about every second packet is one. Undefined: it is another packet, or has no
 * identifier.
 */
function shortAcknowledgement(
  bytes: Uint8Array,
  start: number,
  type: PacketType | undefined,
): AcknowledgementPacket | undefined {
  if (type !== 'puback' && type !== 'pubrec' && type !== 'pubrel' && type !== 'pubcomp') return undefined;
  const packetId = ((bytes[start + 2] ?? 0) << 8) | (bytes[start + 3] ?? 0);
  if (bytes[start + 1] !== 2 || packetId === 0) return undefined;
  return { type, packetId, reasonCode: ReasonCode.Success, properties: NO_PROPERTIES };
}

function decodeOther(
  bytes: Uint8Array,
  type: InspectedType,
  version: ProtocolVersion,
  receiver: Role,
): Packet | Violation {
  const reader = new PacketReader(bytes, fixedHeaderLength(bytes));
  const inspected = inspect(reader, type, version, receiver);
  reader.expectEnd();
  if (reader.violation !== undefined) return reader.violation;
  return isShortAuth(type, bytes) ? SHORT_AUTH : fromMqttPacket(bytes, version, inspected);
}

/** mqtt-packet refuses an AUTH without a reason code, which means Success (3.15.2.1). */
const SHORT_AUTH: Packet = { type: 'auth', reasonCode: ReasonCode.Success, properties: {} };

function isShortAuth(type: PacketType, bytes: Uint8Array): boolean {
  return type === 'auth' && bytes.length === fixedHeaderLength(bytes);
}

function finish(reader: PacketReader, packet: Packet): Packet | Violation {
  reader.expectEnd();
  return reader.violation ?? packet;
}

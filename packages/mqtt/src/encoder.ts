import { generate, writeToStream } from 'mqtt-packet';
import { fixedHeaderLength } from './framer.ts';
import type {
  AcknowledgementPacket,
  ConnackPacket,
  ConnackProperties,
  ConnectPacket,
  Packet,
  ProtocolVersion,
} from './packets.ts';
import { encodePublish } from './publish-encoder.ts';
import { toConnackReturnCode } from './reason-code-tables.ts';
import { ReasonCode } from './reason-codes.ts';
import { toMqttPacket } from './to-mqtt-packet.ts';
import { variableByteIntegerLength, writeVariableByteInteger } from './variable-byte-integer.ts';

// By default mqtt-packet builds 65,536 small buffers with the first packet it writes: eight megabytes, and
// milliseconds of a cold start.
writeToStream.cacheNumbers = false;

/**
 * Encodes a packet for a peer that speaks `version`.
 *
 * The packet must be correct: a value out of range (a string of more than 65,535 bytes) throws. For MQTT 3.1.1
 * properties are left out and reason codes are translated; an AUTH, or a DISCONNECT from a server, is not for it.
 */
export function encodePacket(packet: Packet, version: ProtocolVersion): Uint8Array {
  switch (packet.type) {
    case 'publish':
      return encodePublish(packet, version).bytes;
    case 'puback':
    case 'pubrec':
    case 'pubrel':
    case 'pubcomp':
      if (version < 5 || isEmpty(packet.properties)) return encodeAcknowledgement(packet, version);
      break;
    case 'disconnect':
      if (isEmpty(packet.properties)) return encodeDisconnect(packet.reasonCode);
      break;
    case 'connack':
      return version < 5 ? encodeConnack(packet, version) : encodeConnack5(packet);
    case 'connect':
      return encodeConnect(packet);
    default:
      break;
  }
  return generate(toMqttPacket(packet, version), { protocolVersion: version });
}

/**
 * The return code for a refusal that MQTT 3.1.1 has no code for, if the caller sends a CONNACK nevertheless
 * [MQTT3-3.2.2-6].
 */
const SERVER_UNAVAILABLE = 3;

/** MQTT 3.1 has no Session Present: the byte is reserved. */
function encodeConnack({ sessionPresent, reasonCode }: ConnackPacket, version: ProtocolVersion): Uint8Array {
  const returnCode = toConnackReturnCode(reasonCode) ?? SERVER_UNAVAILABLE;
  return Buffer.of(0x20, 2, sessionPresent && version === 4 ? 1 : 0, returnCode);
}

/** Of properties that cannot change: most clients are told the same. */
const ENCODED_CONNACKS = new WeakMap<ConnackProperties, Uint8Array>();

function encodeConnack5(packet: ConnackPacket): Uint8Array {
  const { properties, sessionPresent, reasonCode } = packet;
  const known = ENCODED_CONNACKS.get(properties);
  const bytes = Buffer.from(known ?? generate(toMqttPacket(packet, 5), { protocolVersion: 5 }));
  if (known === undefined && Object.isFrozen(properties))
    ENCODED_CONNACKS.set(properties, Buffer.from(bytes));
  const flagsAt = fixedHeaderLength(bytes);
  bytes[flagsAt] = sessionPresent ? 1 : 0;
  bytes[flagsAt + 1] = reasonCode;
  return bytes;
}

const FIRST_BYTES: Readonly<Record<AcknowledgementPacket['type'], number>> = {
  puback: 0x40,
  pubrec: 0x50,
  pubrel: 0x62,
  pubcomp: 0x70,
};

/**
 * Encodes an acknowledgement, of which every QoS 1 message needs one: two bytes, the Packet Identifier, and the Reason
 * Code if it is not 0x00. It leaves out an empty property section, which mqtt-packet would write (sections 3.4.2.2.1
 * and 3.14.2.2.1).
 */
function encodeAcknowledgement(
  { type, packetId, reasonCode }: AcknowledgementPacket,
  version: ProtocolVersion,
): Uint8Array {
  const isShort = version < 5 || reasonCode === ReasonCode.Success;
  const bytes = Buffer.allocUnsafe(isShort ? 4 : 5);
  bytes[0] = FIRST_BYTES[type];
  bytes[1] = isShort ? 2 : 3;
  bytes[2] = packetId >> 8;
  bytes[3] = packetId & 0xff;
  if (!isShort) bytes[4] = reasonCode;
  return bytes;
}

function encodeDisconnect(reasonCode: number): Uint8Array {
  return Buffer.from(reasonCode === ReasonCode.NormalDisconnection ? [0xe0, 0] : [0xe0, 1, reasonCode]);
}

function isEmpty(properties: object): boolean {
  for (const name in properties) if (properties[name as keyof typeof properties] !== undefined) return false;
  return true;
}

const FLAG_CLEAN_START = 0b0000_0010;
const FLAG_USER_NAME = 0b1000_0000;
/** Behind the protocol name `MQTT` with its length, and the version. */
const FLAGS_OFFSET = 2 + 4 + 1;

/**
 * mqtt-packet refuses two packets that MQTT 5.0 allows: an empty client identifier without Clean Start, and a
 * password without a user name. Each is written as its neighbour that it accepts, and then corrected.
 */
function encodeConnect(packet: ConnectPacket): Uint8Array {
  const isResumedWithoutName = packet.protocolVersion === 5 && packet.clientId === '' && !packet.cleanStart;
  const isPasswordAlone =
    packet.protocolVersion === 5 && packet.password !== undefined && packet.username === undefined;
  const accepted: ConnectPacket = {
    ...packet,
    ...(isResumedWithoutName ? { cleanStart: true } : {}),
    ...(isPasswordAlone ? { username: '' } : {}),
  };
  const generated = generate(toMqttPacket(accepted, packet.protocolVersion));
  if (isResumedWithoutName) clearFlag(generated, FLAG_CLEAN_START);
  if (!isPasswordAlone) return generated;
  clearFlag(generated, FLAG_USER_NAME);
  return withoutUserName(generated, packet.password?.length ?? 0);
}

function clearFlag(connect: Uint8Array, flag: number): void {
  const at = fixedHeaderLength(connect) + FLAGS_OFFSET;
  connect[at] = (connect[at] ?? 0) & ~flag;
}

/** The empty user name is the two bytes before the password, and the password ends the packet. */
function withoutUserName(connect: Uint8Array, passwordBytes: number): Uint8Array {
  const body = connect.subarray(fixedHeaderLength(connect));
  const passwordAt = body.length - 2 - passwordBytes;
  const remainingLength = body.length - 2;
  const bytes = new Uint8Array(1 + variableByteIntegerLength(remainingLength) + remainingLength);
  bytes[0] = connect[0] ?? 0;
  const start = writeVariableByteInteger(bytes, 1, remainingLength);
  bytes.set(body.subarray(0, passwordAt - 2), start);
  bytes.set(body.subarray(passwordAt), start + passwordAt - 2);
  return bytes;
}

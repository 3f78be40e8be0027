import { BINARY_BYTES_MAX, REMAINING_LENGTH_MAX, STRING_BYTES_MAX } from './limits.ts';
import type { PacketId, ProtocolVersion, PublishPacket, PublishProperties } from './packets.ts';
import { variableByteIntegerLength, writeVariableByteInteger } from './variable-byte-integer.ts';

/** A PUBLISH in bytes that many recipients share: only the Packet Identifier differs between them. */
export interface EncodedPublish {
  readonly bytes: Buffer;
  /** Where the two bytes of the Packet Identifier stand; 0 at QoS 0, which has none. */
  readonly packetIdOffset: number;
}

/** The exact size of the packet in bytes, without encoding it, for comparison with a Maximum Packet Size. */
export function publishLength(publish: PublishPacket, version: ProtocolVersion): number {
  const remainingLength = remainingLengthOf(publish, version, propertiesLength(publish.properties, version));
  return 1 + variableByteIntegerLength(remainingLength) + remainingLength;
}

/** Encodes a PUBLISH (3.3). The topic may be empty where a topic alias stands for it. */
export function encodePublish(publish: PublishPacket, version: ProtocolVersion): EncodedPublish {
  const sectionLength = propertiesLength(publish.properties, version);
  const remainingLength = remainingLengthOf(publish, version, sectionLength);
  const bytes = Buffer.allocUnsafe(1 + variableByteIntegerLength(remainingLength) + remainingLength);
  bytes[0] = firstByteOf(publish);
  let offset = writeVariableByteInteger(bytes, 1, remainingLength);
  offset = writeString(bytes, offset, publish.topic);
  const packetIdOffset = publish.qos === 0 ? 0 : offset;
  if (publish.qos > 0) offset = bytes.writeUInt16BE(publish.packetId, offset);
  if (version === 5) {
    // An empty section is written too, as length 0 [MQTT-2.2.2-1].
    offset = writeVariableByteInteger(bytes, offset, sectionLength);
    if (sectionLength > 0) offset = writeProperties(bytes, offset, publish.properties);
  }
  bytes.set(publish.payload, offset);
  return { bytes, packetIdOffset };
}

/**
 * The same packet under another Packet Identifier. It is a copy, unless the bytes already say so or the packet
 * has none (QoS 0): those are shared between recipients and must not be written to.
 */
export function withPacketId(encoded: EncodedPublish, packetId: PacketId): Buffer {
  const { bytes, packetIdOffset } = encoded;
  if (packetIdOffset === 0 || bytes.readUInt16BE(packetIdOffset) === packetId) return bytes;
  const copy = Buffer.from(bytes);
  copy.writeUInt16BE(packetId, packetIdOffset);
  return copy;
}

function firstByteOf({ qos, retain, dup }: PublishPacket): number {
  const duplicate = dup && qos > 0 ? 0b1000 : 0; // [MQTT-3.3.1-2]
  return 0x30 | duplicate | (qos << 1) | (retain ? 1 : 0);
}

function remainingLengthOf(publish: PublishPacket, version: ProtocolVersion, sectionLength: number): number {
  const length =
    stringLength(publish.topic) +
    (publish.qos === 0 ? 0 : 2) +
    (version === 5 ? variableByteIntegerLength(sectionLength) + sectionLength : 0) +
    publish.payload.length;
  if (length <= REMAINING_LENGTH_MAX) return length;
  throw new RangeError(`A packet has at most ${REMAINING_LENGTH_MAX} bytes behind its header, not ${length}`);
}

/** The bytes of the property section without its length. */
function propertiesLength(properties: PublishProperties, version: ProtocolVersion): number {
  if (version < 5) return 0;
  let length = 0;
  if (properties.payloadFormatIndicator !== undefined) length += 2;
  if (properties.messageExpiryInterval !== undefined) length += 5;
  if (properties.topicAlias !== undefined) length += 3;
  if (properties.contentType !== undefined) length += 1 + stringLength(properties.contentType);
  if (properties.responseTopic !== undefined) length += 1 + stringLength(properties.responseTopic);
  if (properties.correlationData !== undefined) length += 1 + binaryLength(properties.correlationData);
  for (const identifier of properties.subscriptionIdentifiers ?? []) {
    length += 1 + variableByteIntegerLength(identifier);
  }
  for (const [name, value] of properties.userProperties ?? []) {
    length += 1 + stringLength(name) + stringLength(value);
  }
  return length;
}

function writeProperties(bytes: Buffer, start: number, properties: PublishProperties): number {
  let offset = start;
  if (properties.payloadFormatIndicator !== undefined) {
    offset = bytes.writeUInt8(0x01, offset);
    offset = bytes.writeUInt8(properties.payloadFormatIndicator, offset);
  }
  if (properties.messageExpiryInterval !== undefined) {
    offset = bytes.writeUInt8(0x02, offset);
    offset = bytes.writeUInt32BE(properties.messageExpiryInterval, offset);
  }
  if (properties.topicAlias !== undefined) {
    offset = bytes.writeUInt8(0x23, offset);
    offset = bytes.writeUInt16BE(properties.topicAlias, offset);
  }
  if (properties.contentType !== undefined) {
    offset = writeString(bytes, bytes.writeUInt8(0x03, offset), properties.contentType);
  }
  if (properties.responseTopic !== undefined) {
    offset = writeString(bytes, bytes.writeUInt8(0x08, offset), properties.responseTopic);
  }
  if (properties.correlationData !== undefined) {
    offset = writeBinary(bytes, bytes.writeUInt8(0x09, offset), properties.correlationData);
  }
  for (const identifier of properties.subscriptionIdentifiers ?? []) {
    offset = writeVariableByteInteger(bytes, bytes.writeUInt8(0x0b, offset), identifier);
  }
  // In their order [MQTT-3.3.2-17] [MQTT-3.3.2-18].
  for (const [name, value] of properties.userProperties ?? []) {
    offset = writeString(bytes, bytes.writeUInt8(0x26, offset), name);
    offset = writeString(bytes, offset, value);
  }
  return offset;
}

function stringLength(value: string): number {
  const length = Buffer.byteLength(value);
  if (length <= STRING_BYTES_MAX) return 2 + length;
  throw new RangeError(`A string has at most ${STRING_BYTES_MAX} bytes, not ${length}`);
}

function binaryLength(value: Uint8Array): number {
  if (value.length <= BINARY_BYTES_MAX) return 2 + value.length;
  throw new RangeError(`Binary data has at most ${BINARY_BYTES_MAX} bytes, not ${value.length}`);
}

function writeString(bytes: Buffer, offset: number, value: string): number {
  const written = bytes.write(value, offset + 2);
  bytes.writeUInt16BE(written, offset);
  return offset + 2 + written;
}

function writeBinary(bytes: Buffer, offset: number, value: Uint8Array): number {
  bytes.set(value, bytes.writeUInt16BE(value.length, offset));
  return offset + 2 + value.length;
}

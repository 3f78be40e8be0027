import type { Role } from './fixed-header.ts';
import type { ProtocolVersion, PublishPacket, PublishProperties, QoS } from './packets.ts';
import { readProperties } from './read-properties.ts';
import type { PacketReader } from './reader.ts';
import { ReasonCode } from './reason-codes.ts';
import { containsWildcard } from './topic.ts';

/** Reads a PUBLISH after its fixed header (3.3). The payload is a view of the packet's bytes. */
export function readPublish(
  reader: PacketReader,
  firstByte: number,
  version: ProtocolVersion,
  receiver: Role,
): PublishPacket {
  const qos = ((firstByte >> 1) & 0b11) as QoS; // QoS 3 was refused with the fixed header [MQTT-3.3.1-4]
  const topic = reader.utf8String('the topic name'); // [MQTT-3.3.2-1]
  const packetId = qos === 0 ? 0 : readPacketId(reader, version); // [MQTT-2.2.1-2]
  const properties: PublishProperties = version === 5 ? readProperties(reader, 'publish') : {};
  checkTopic(reader, topic, properties, version);
  if (version === 5) checkProperties(reader, properties, receiver);
  return {
    type: 'publish',
    topic,
    payload: reader.rest(),
    qos,
    retain: (firstByte & 0b0001) !== 0,
    dup: (firstByte & 0b1000) !== 0,
    packetId,
    properties,
  };
}

/** Packet Identifiers begin at 1 [MQTT-2.2.1-3]. */
export function readPacketId(reader: PacketReader, version: ProtocolVersion): number {
  const packetId = reader.uint16('the packet identifier');
  if (packetId === 0) {
    const reasonCode = version === 5 ? ReasonCode.ProtocolError : ReasonCode.MalformedPacket;
    reader.fail(reasonCode, 'A packet identifier is never 0');
  }
  return packetId;
}

function checkTopic(
  reader: PacketReader,
  topic: string,
  properties: PublishProperties,
  version: ProtocolVersion,
): void {
  if (topic === '' && properties.topicAlias === undefined) {
    const reasonCode = version === 5 ? ReasonCode.ProtocolError : ReasonCode.MalformedPacket;
    reader.fail(reasonCode, 'A PUBLISH without a topic alias has a topic name'); // [MQTT-4.7.3-1]
  }
  if (containsWildcard(topic)) {
    const reasonCode = version === 5 ? ReasonCode.TopicNameInvalid : ReasonCode.MalformedPacket;
    reader.fail(reasonCode, `A topic name has no wildcards: ${topic}`); // [MQTT-3.3.2-2]
  }
}

function checkProperties(reader: PacketReader, properties: PublishProperties, receiver: Role): void {
  if (receiver === 'server' && properties.subscriptionIdentifiers !== undefined) {
    // [MQTT-3.3.4-6]
    reader.fail(ReasonCode.ProtocolError, 'A client sends no subscription identifier with a PUBLISH');
  }
  checkResponseTopic(reader, properties.responseTopic);
}

/** A Response Topic is a topic name like any other (3.3.2.3.5). */
export function checkResponseTopic(reader: PacketReader, responseTopic: string | undefined): void {
  if (responseTopic === undefined) return;
  if (responseTopic === '') {
    reader.fail(ReasonCode.ProtocolError, 'A response topic has at least one character'); // [MQTT-4.7.3-1]
  }
  if (containsWildcard(responseTopic)) {
    // [MQTT-3.3.2-14]
    reader.fail(ReasonCode.ProtocolError, `A response topic has no wildcards: ${responseTopic}`);
  }
}

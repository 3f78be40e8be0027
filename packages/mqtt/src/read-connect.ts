import type { ConnectPacket, ProtocolVersion, QoS, Will } from './packets.ts';
import { type AnyProperties, readProperties } from './read-properties.ts';
import { checkResponseTopic } from './read-publish.ts';
import type { PacketReader } from './reader.ts';
import { ReasonCode } from './reason-codes.ts';
import { containsWildcard } from './topic.ts';

const FLAG_RESERVED = 0b0000_0001;
const FLAG_CLEAN_START = 0b0000_0010;
const FLAG_WILL = 0b0000_0100;
const FLAGS_WILL_QOS = 0b0001_1000;
const FLAG_WILL_RETAIN = 0b0010_0000;
const FLAG_PASSWORD = 0b0100_0000;
const FLAG_USER_NAME = 0b1000_0000;

/** Reads a CONNECT after its fixed header (3.1). Failures go to the reader. */
export function readConnect(reader: PacketReader): ConnectPacket {
  const version = readVersion(reader) ?? 5;
  if (reader.violation === undefined) reader.connectVersion = version;
  const flags = reader.uint8('the connect flags');
  checkFlags(reader, flags, version);
  const keepAliveSeconds = reader.uint16('the keep alive');
  const properties = version === 5 ? readProperties(reader, 'connect') : {};
  checkAuthentication(reader, properties);
  const clientId = reader.utf8String('the client identifier'); // [MQTT-3.1.3-3] [MQTT-3.1.3-4]
  checkClientId(reader, clientId, flags, version);
  const will = (flags & FLAG_WILL) === 0 ? undefined : readWill(reader, flags, version);
  const username = (flags & FLAG_USER_NAME) === 0 ? undefined : reader.utf8String('the user name'); // [MQTT-3.1.3-12]
  const password = (flags & FLAG_PASSWORD) === 0 ? undefined : reader.binary('the password');
  return {
    type: 'connect',
    protocolVersion: version,
    cleanStart: (flags & FLAG_CLEAN_START) !== 0,
    keepAliveSeconds,
    clientId,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(will !== undefined && { will }),
    properties,
  };
}

function readVersion(reader: PacketReader): ProtocolVersion | undefined {
  const name = reader.utf8String('the protocol name');
  const level = reader.uint8('the protocol version');
  if (reader.violation !== undefined) return undefined;
  if (name === 'MQTT' && (level === 4 || level === 5)) return level;
  if (name === 'MQIsdp' && level === 3) return level;
  if (name === 'MQTT') {
    reader.connectVersion = answerVersion(level); // [MQTT-3.1.2-2] [MQTT3-3.1.2-2]
  } else if (name === 'MQIsdp') {
    reader.connectVersion = 4;
  }
  // Another protocol name is another protocol: no version to answer in, so no CONNACK [MQTT-3.1.2-1] [MQTT3-3.1.2-1].
  const shown = JSON.stringify(name.slice(0, 20));
  reader.fail(ReasonCode.UnsupportedProtocolVersion, `Protocol ${shown} version ${level} is not spoken here`);
  return undefined;
}

/** Bridges of Mosquitto and others set the high bit of the level they speak, and fall back when refused in it. */
function answerVersion(level: number): ProtocolVersion {
  const spoken = level >= 0x80 ? level - 0x80 : level;
  return spoken >= 5 ? 5 : 4;
}

function checkFlags(reader: PacketReader, flags: number, version: ProtocolVersion): void {
  if ((flags & FLAG_RESERVED) !== 0) reader.malformed('The reserved connect flag is 0'); // [MQTT-3.1.2-3] [MQTT3-3.1.2-3]
  const willQoS = (flags & FLAGS_WILL_QOS) >> 3;
  if (willQoS === 3) reader.malformed('A Will has QoS 0, 1 or 2, not 3'); // [MQTT-3.1.2-12]
  if ((flags & FLAG_WILL) === 0) {
    if (willQoS !== 0) reader.malformed('Without a Will its QoS is 0'); // [MQTT-3.1.2-11]
    if ((flags & FLAG_WILL_RETAIN) !== 0) reader.malformed('Without a Will its Retain flag is 0'); // [MQTT-3.1.2-13]
  }
  // [MQTT3-3.1.2-22]; MQTT 5.0 lets a password stand alone.
  if (version < 5 && (flags & FLAG_PASSWORD) !== 0 && (flags & FLAG_USER_NAME) === 0) {
    reader.malformed('A password comes with a user name');
  }
}

export function checkAuthentication(reader: PacketReader, properties: AnyProperties): void {
  if (properties.authenticationData !== undefined && properties.authenticationMethod === undefined) {
    reader.fail(ReasonCode.ProtocolError, 'Authentication data comes with an authentication method');
  }
}

/** Longer identifiers than MQTT 3.1's 23 characters are taken: every client of today sends them. */
function checkClientId(
  reader: PacketReader,
  clientId: string,
  flags: number,
  version: ProtocolVersion,
): void {
  if (clientId !== '' || version === 5) return;
  if (version === 3) {
    reader.fail(ReasonCode.ClientIdentifierNotValid, 'MQTT 3.1 has no empty client identifier');
  } else if ((flags & FLAG_CLEAN_START) === 0) {
    // [MQTT3-3.1.3-7] [MQTT3-3.1.3-8] [MQTT3-3.1.3-9]
    reader.fail(ReasonCode.ClientIdentifierNotValid, 'An empty client identifier comes with Clean Session');
  }
}

function readWill(reader: PacketReader, flags: number, version: ProtocolVersion): Will {
  const properties = version === 5 ? readProperties(reader, 'will') : {};
  checkResponseTopic(reader, properties.responseTopic);
  const topic = reader.utf8String('the will topic'); // [MQTT-3.1.3-11]
  if (reader.violation === undefined && (topic === '' || containsWildcard(topic))) {
    reader.fail(
      ReasonCode.TopicNameInvalid,
      `A Will has a topic name without wildcards, not ${JSON.stringify(topic)}`,
    );
  }
  return {
    topic,
    payload: reader.binary('the will payload'),
    // A Will QoS of 3 was refused with the flags.
    qos: ((flags & FLAGS_WILL_QOS) >> 3) as QoS,
    retain: (flags & FLAG_WILL_RETAIN) !== 0,
    properties,
  };
}

import type { Role } from './fixed-header.ts';
import { FILTERS_PER_PACKET_MAX } from './limits.ts';
import type { Packet, PacketType, ProtocolVersion } from './packets.ts';
import { readReasonCode } from './read-acknowledgement.ts';
import { checkAuthentication } from './read-connect.ts';
import { type AnyProperties, readProperties } from './read-properties.ts';
import { readPacketId } from './read-publish.ts';
import type { PacketReader } from './reader.ts';
import { fromConnackReturnCode, isReasonCodeAllowed } from './reason-code-tables.ts';
import { ReasonCode, reasonCodeName } from './reason-codes.ts';

/**
 * The parts that the strict walk keeps of a packet before mqtt-packet decodes it: the properties, because mqtt-packet
 * loses the order of user properties and reads bytes as booleans.
 */
export interface Inspected {
  properties: AnyProperties;
}

/** The packets that `inspect` walks; `readConnect`, `readPublish` and `readAcknowledgement` read the others whole. */
export type InspectedType = Exclude<
  PacketType,
  'connect' | 'publish' | 'puback' | 'pubrec' | 'pubrel' | 'pubcomp' | 'pingreq' | 'pingresp'
>;
export type InspectedPacket = Extract<Packet, { type: InspectedType }>;

/** Walks through a packet after its fixed header and checks it against the specification. Failures go to the reader. */
export function inspect(
  reader: PacketReader,
  type: InspectedType,
  version: ProtocolVersion,
  receiver: Role,
): Inspected {
  switch (type) {
    case 'connack':
      return inspectConnack(reader, version);
    case 'subscribe':
      return inspectSubscribe(reader, version);
    case 'suback':
      return inspectSuback(reader, version);
    case 'unsubscribe':
      return inspectUnsubscribe(reader, version);
    case 'unsuback':
      return inspectUnsuback(reader, version);
    case 'disconnect':
      return inspectDisconnect(reader, version, receiver);
    case 'auth':
      return inspectAuth(reader, version, receiver);
  }
}

function inspectConnack(reader: PacketReader, version: ProtocolVersion): Inspected {
  if (reader.uint8('the acknowledge flags') > 1) reader.malformed('Only Session Present may be set'); // [MQTT-3.2.2-1]
  if (version === 5) {
    readReasonCode(reader, 'connack', 'client'); // [MQTT-3.2.2-8]
    const properties = readProperties(reader, 'connack');
    checkAuthentication(reader, properties);
    return { properties };
  }
  const returnCode = reader.uint8('the return code');
  if (fromConnackReturnCode(returnCode) === undefined)
    reader.malformed(`No return code ${returnCode} exists`);
  return { properties: {} };
}

function inspectSubscribe(reader: PacketReader, version: ProtocolVersion): Inspected {
  readPacketId(reader, version);
  const properties = version === 5 ? readProperties(reader, 'subscribe') : {};
  expectEntry(reader, 'A SUBSCRIBE has at least one topic filter'); // [MQTT-3.8.3-2]
  for (let filters = 1; reader.remaining > 0; filters += 1) {
    checkCount(reader, filters);
    reader.utf8String('a topic filter'); // [MQTT-3.8.3-1]
    checkSubscriptionOptions(reader, reader.uint8('the subscription options'), version);
  }
  return { properties };
}

function checkSubscriptionOptions(reader: PacketReader, options: number, version: ProtocolVersion): void {
  const reserved = version === 5 ? 0b1100_0000 : 0b1111_1100;
  // [MQTT-3.8.3-5] [MQTT3-3.8.3-4]
  if ((options & reserved) !== 0) reader.malformed('The reserved bits of the subscription options are 0');
  if ((options & 0b11) === 3) {
    // A Protocol Error in MQTT 5.0 (section 3.8.3.1), although QoS 3 in a PUBLISH is malformed.
    const reasonCode = version === 5 ? ReasonCode.ProtocolError : ReasonCode.MalformedPacket;
    reader.fail(reasonCode, 'A subscription has QoS 0, 1 or 2, not 3');
  }
  if ((options & 0b11_0000) === 0b11_0000) {
    reader.fail(ReasonCode.ProtocolError, 'Retain Handling is 0, 1 or 2, not 3');
  }
}

function inspectSuback(reader: PacketReader, version: ProtocolVersion): Inspected {
  readPacketId(reader, version);
  const properties = version === 5 ? readProperties(reader, 'suback') : {};
  expectEntry(reader, 'A SUBACK has at least one reason code');
  while (reader.remaining > 0) {
    if (version === 5) {
      readReasonCode(reader, 'suback', 'client'); // [MQTT-3.9.3-2]
    } else {
      checkReturnCode(reader, reader.uint8('a return code'));
    }
  }
  return { properties };
}

/** [MQTT3-3.9.3-2] */
function checkReturnCode(reader: PacketReader, code: number): void {
  if (code > 2 && code !== 0x80) reader.malformed(`A SUBACK of MQTT 3.1.1 has no return code ${code}`);
}

function inspectUnsubscribe(reader: PacketReader, version: ProtocolVersion): Inspected {
  readPacketId(reader, version);
  const properties = version === 5 ? readProperties(reader, 'unsubscribe') : {};
  expectEntry(reader, 'An UNSUBSCRIBE has at least one topic filter'); // [MQTT-3.10.3-2]
  for (let filters = 1; reader.remaining > 0; filters += 1) {
    checkCount(reader, filters);
    reader.utf8String('a topic filter'); // [MQTT-3.10.3-1]
  }
  return { properties };
}

/** [SEC-WORK-8] */
function checkCount(reader: PacketReader, filters: number): void {
  if (filters > FILTERS_PER_PACKET_MAX)
    reader.fail(ReasonCode.QuotaExceeded, `A packet has at most ${FILTERS_PER_PACKET_MAX} topic filters`);
}

function inspectUnsuback(reader: PacketReader, version: ProtocolVersion): Inspected {
  readPacketId(reader, version);
  if (version < 5) return { properties: {} };
  const properties = readProperties(reader, 'unsuback');
  expectEntry(reader, 'An UNSUBACK has at least one reason code');
  while (reader.remaining > 0) readReasonCode(reader, 'unsuback', 'client'); // [MQTT-3.11.3-2]
  return { properties };
}

/** A payload of lists has at least one entry. */
function expectEntry(reader: PacketReader, rule: string): void {
  if (reader.remaining === 0) reader.fail(ReasonCode.ProtocolError, rule);
}

function inspectDisconnect(reader: PacketReader, version: ProtocolVersion, receiver: Role): Inspected {
  // The Reason Code and the properties may be left out (3.14.2.1, 3.14.2.2.1).
  if (version < 5 || reader.remaining === 0) return { properties: {} };
  readReasonCode(reader, 'disconnect', receiver);
  const properties = reader.remaining > 0 ? readProperties(reader, 'disconnect') : {};
  if (receiver === 'client' && properties.sessionExpiryInterval !== undefined) {
    reader.fail(ReasonCode.ProtocolError, 'A server sends no session expiry interval'); // [MQTT-3.14.2-2]
  }
  if (receiver === 'server' && properties.serverReference !== undefined) {
    reader.fail(ReasonCode.ProtocolError, 'A client sends no server reference');
  }
  return { properties };
}

function inspectAuth(reader: PacketReader, version: ProtocolVersion, receiver: Role): Inspected {
  if (version < 5) {
    reader.malformed('MQTT 3.1.1 has no AUTH');
    return { properties: {} };
  }
  const isShort = reader.remaining === 0; // Without a reason code AUTH means Success (3.15.2.1).
  const reasonCode = isShort ? ReasonCode.Success : reader.uint8('the reason code');
  // [MQTT-3.15.2-1]
  if (!isReasonCodeAllowed('auth', reasonCode, receiver)) {
    reader.fail(ReasonCode.ProtocolError, `A ${receiver} is sent no AUTH with ${reasonCodeName(reasonCode)}`);
  }
  const properties = isShort ? {} : readProperties(reader, 'auth');
  if (reasonCode !== ReasonCode.Success && properties.authenticationMethod === undefined) {
    reader.fail(ReasonCode.ProtocolError, 'An AUTH names its authentication method');
  }
  checkAuthentication(reader, properties);
  return { properties };
}

import {
  type ConnectPacket,
  type DisconnectPacket,
  encodePacket,
  type Packet,
  type ProtocolVersion,
  ReasonCode,
  toConnackReturnCode,
  Violation,
  type WithReasonString,
} from '@apus/mqtt';
import { PACKET_SIZE_UNLIMITED } from './model/limits.ts';
import type { Connection, Link } from './model/link.ts';
import type { Attachment } from './model/session.ts';

/** Characters of a Reason String: a person reads it in a log. */
const REASON_STRING_LENGTH_MAX = 200;

/**
 * Sends a reply that honours what the client asked for: Request Problem Information and Maximum Packet Size. The caller
 * has asked `tooLarge` about a reply that does not always fit.
 */
export function reply(link: Link, connection: Connection, packet: Packet): void {
  const allowed = withProblemInformation(connection, packet);
  const fitting = fitted(allowed, connection.protocolVersion, connection.maximumPacketSize);
  if (fitting !== undefined) link.send(fitting, connection.protocolVersion);
}

/** Reason String and User Properties are left out if the client does not want them [MQTT-3.1.2-29]. */
function withProblemInformation(connection: Connection, packet: Packet): Packet {
  if (connection.requestProblemInformation || !('properties' in packet)) return packet;
  if (packet.type === 'publish' || packet.type === 'connack' || packet.type === 'disconnect') return packet;
  return withoutReason(packet);
}

/**
 * A packet over the client's Maximum Packet Size is sent without its Reason String [MQTT-3.14.2-3] [MQTT-3.2.2-19],
 * user properties [MQTT-3.2.2-20] and Response Information, which the client can do without; if it is still too large,
 * it is not sent [MQTT-3.1.2-24].
 */
function fitted<P extends Packet>(
  packet: P,
  version: ProtocolVersion,
  maximumPacketSize: number,
): P | undefined {
  if (maximumPacketSize === PACKET_SIZE_UNLIMITED || isBareAcknowledgement(packet)) return packet;
  const fits = (candidate: P) => encodePacket(candidate, version).length <= maximumPacketSize;
  if (fits(packet)) return packet;
  const shorter = withoutReason(packet);
  return fits(shorter) ? shorter : undefined;
}

/** At most five bytes, and a client that takes no packet of that size has got no CONNACK. Each message brings one. */
function isBareAcknowledgement(packet: Packet): boolean {
  return 'packetId' in packet && 'reasonCode' in packet && packet.properties.reasonString === undefined;
}

function withoutReason<P extends Packet>(packet: P): P {
  if (packet.type === 'publish' || !('properties' in packet)) return packet;
  const properties: WithReasonString & { responseInformation?: string } = { ...packet.properties };
  delete properties.reasonString;
  delete properties.userProperties;
  delete properties.responseInformation;
  return { ...packet, properties };
}

/**
 * Why an answer cannot be sent: it is larger than the client takes, with everything left out that may be. The broker
 * ends the connection, since an answer that never comes would keep the client waiting.
 */
export function tooLarge(
  packet: Packet,
  { protocolVersion, maximumPacketSize }: Pick<Connection, 'protocolVersion' | 'maximumPacketSize'>,
): Violation | undefined {
  if (fitted(packet, protocolVersion, maximumPacketSize) !== undefined) return undefined;
  const reason = `${packet.type.toUpperCase()} is larger than the client's Maximum Packet Size, ${maximumPacketSize}`;
  return new Violation(ReasonCode.PacketTooLarge, reason);
}

export function maximumPacketSizeOf({ properties }: Pick<ConnectPacket, 'properties'>): number {
  return properties.maximumPacketSize ?? PACKET_SIZE_UNLIMITED;
}

/** The properties of a reply with a Reason String. */
export function because(reason: string): { reasonString: string } {
  return { reasonString: reason.slice(0, REASON_STRING_LENGTH_MAX) };
}

/**
 * Answers CONNECT with an error and closes [MQTT-3.2.2-6] [MQTT-3.2.2-7]. MQTT 3.1.1 has few return codes; for another
 * error the broker only closes [MQTT3-3.2.2-6].
 */
export function refuseConnect(
  link: Link,
  version: ProtocolVersion,
  { reasonCode, reason }: Violation,
  maximumPacketSize = PACKET_SIZE_UNLIMITED,
): void {
  link.state = { phase: 'closed' };
  if (version === 5 || toConnackReturnCode(reasonCode) !== undefined) {
    const properties = because(reason);
    const connack: Packet = { type: 'connack', sessionPresent: false, reasonCode, properties };
    const fitting = fitted(connack, version, maximumPacketSize);
    if (fitting !== undefined) link.send(fitting, version);
  }
  link.close('server');
}

/**
 * The DISCONNECT for a connection that may be at another process: none before MQTT 5.0, and none that is larger than
 * the client takes [MQTT-3.14.2-3].
 */
export function disconnectFor(
  { protocolVersion, maximumPacketSize }: Attachment,
  reasonCode: number,
  reason: string,
): DisconnectPacket | undefined {
  if (protocolVersion < 5) return undefined;
  const packet: DisconnectPacket = { type: 'disconnect', reasonCode, properties: because(reason) };
  return fitted(packet, protocolVersion, maximumPacketSize);
}

/** DISCONNECT for MQTT 5.0; older versions know only the close. */
export function sayDisconnect(link: Link, connection: Connection, reasonCode: number, reason: string): void {
  if (connection.protocolVersion < 5) return;
  const properties = reasonCode === ReasonCode.NormalDisconnection ? {} : because(reason);
  reply(link, connection, { type: 'disconnect', reasonCode, properties });
}

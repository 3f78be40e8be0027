import {
  encodePacket,
  type Packet,
  type ProtocolVersion,
  ReasonCode,
  toConnackReturnCode,
  type Violation,
  type WithReasonString,
} from '@apus/mqtt';
import type { Connection, Link } from './link.ts';

/** A client with a smaller Maximum Packet Size may not take our replies: each is measured. */
const SMALL_PACKET_SIZE = 1024;

/** Characters of a Reason String: a person reads it in a log. */
const REASON_STRING_LENGTH_MAX = 200;

/** Sends a reply that honours what the client asked for: Request Problem Information and Maximum Packet Size. */
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
 * A packet over the client's Maximum Packet Size is sent without its Reason String [MQTT-3.14.2-3] [MQTT-3.2.2-19] and
 * user properties [MQTT-3.2.2-20]; if it is still too large, it is not sent [MQTT-3.1.2-24].
 */
export function fitted<P extends Packet>(
  packet: P,
  version: ProtocolVersion,
  maximumPacketSize: number,
): P | undefined {
  const fits = (candidate: P) => encodePacket(candidate, version).length <= maximumPacketSize;
  const isMeasured = maximumPacketSize < SMALL_PACKET_SIZE || tellsOfTopics(packet);
  if (!isMeasured || fits(packet)) return packet;
  const shorter = withoutReason(packet);
  return fits(shorter) ? shorter : undefined;
}

/** A SUBACK with positions of streams, which are not left out. */
function tellsOfTopics(packet: Packet): boolean {
  return packet.type === 'suback' && (packet.properties.userProperties?.length ?? 0) > 2;
}

function withoutReason<P extends Packet>(packet: P): P {
  if (packet.type === 'publish' || !('properties' in packet)) return packet;
  const { reasonString: _, userProperties: __, ...properties }: WithReasonString = packet.properties;
  return { ...packet, properties };
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
  maximumPacketSize: number,
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

/** DISCONNECT for MQTT 5.0; older versions know only the close. */
export function sayDisconnect(link: Link, connection: Connection, reasonCode: number, reason: string): void {
  if (connection.protocolVersion < 5) return;
  const properties = reasonCode === ReasonCode.NormalDisconnection ? {} : because(reason);
  reply(link, connection, { type: 'disconnect', reasonCode, properties });
}

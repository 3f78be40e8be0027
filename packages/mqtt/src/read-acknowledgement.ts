import type { Role } from './fixed-header.ts';
import type { AcknowledgementPacket, PacketType, ProtocolVersion } from './packets.ts';
import { readProperties } from './read-properties.ts';
import { readPacketId } from './read-publish.ts';
import type { PacketReader } from './reader.ts';
import { isReasonCodeAllowed } from './reason-code-tables.ts';
import { ReasonCode, reasonCodeName } from './reason-codes.ts';

/** Reads PUBACK, PUBREC, PUBREL and PUBCOMP after the fixed header (3.4 to 3.7). */
export function readAcknowledgement(
  reader: PacketReader,
  type: AcknowledgementPacket['type'],
  version: ProtocolVersion,
  receiver: Role,
): AcknowledgementPacket {
  const packetId = readPacketId(reader, version);
  // Both the Reason Code and the properties may be left out (3.4.2.1, 3.4.2.2.1).
  const reasonCode =
    version === 5 && reader.remaining > 0 ? readReasonCode(reader, type, receiver) : ReasonCode.Success;
  const properties = version === 5 && reader.remaining > 0 ? readProperties(reader, type) : {};
  return { type, packetId, reasonCode, properties };
}

/** [MQTT-3.4.2-1] [MQTT-3.5.2-1] [MQTT-3.6.2-1] [MQTT-3.7.2-1] [MQTT-3.14.2-1] [MQTT-3.15.2-1] */
export function readReasonCode(reader: PacketReader, type: PacketType, receiver: Role): number {
  const reasonCode = reader.uint8('the reason code');
  if (!isReasonCodeAllowed(type, reasonCode, receiver)) {
    reader.malformed(`${type} does not carry the reason code ${reasonCodeName(reasonCode)}`);
  }
  return reasonCode;
}

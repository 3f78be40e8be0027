import {
  type IConnackPacket,
  type ISubackPacket,
  type ISubscribePacket,
  type IUnsubackPacket,
  type Packet as MqttPacket,
  parser,
} from 'mqtt-packet';
import { FLAG_DUP } from './fixed-header.ts';
import type { Inspected, InspectedPacket } from './inspect.ts';
import type { ConnackPacket, ProtocolVersion, SubscribePacket, SubscriptionRequest } from './packets.ts';
import { fromConnackReturnCode } from './reason-code-tables.ts';
import { ReasonCode } from './reason-codes.ts';
import { Violation } from './violation.ts';

/**
 * Takes a whole, inspected packet apart with mqtt-packet and gives it our shape.
 *
 * Fields come from mqtt-packet, properties from the inspection (see `Inspected`).
 */
export function fromMqttPacket(
  bytes: Uint8Array,
  version: ProtocolVersion,
  inspected: Inspected,
): InspectedPacket | Violation {
  const parsed = parse(bytes, version);
  if (parsed instanceof Error) {
    return new Violation(ReasonCode.MalformedPacket, `mqtt-packet refuses it: ${parsed.message}`);
  }
  const properties = inspected.properties;
  const packetId = parsed.messageId ?? 0;
  switch (parsed.cmd) {
    case 'connack':
      return { type: 'connack', ...connackFields(parsed, version), properties };
    case 'subscribe':
      return { type: 'subscribe', packetId, subscriptions: subscriptions(parsed), properties };
    case 'suback':
      return { type: 'suback', packetId, reasonCodes: granted(parsed), properties };
    case 'unsubscribe':
      return { type: 'unsubscribe', packetId, topicFilters: parsed.unsubscriptions, properties };
    case 'unsuback':
      return { type: 'unsuback', packetId, reasonCodes: granted(parsed), properties };
    case 'disconnect':
      return {
        type: 'disconnect',
        reasonCode: parsed.reasonCode ?? ReasonCode.NormalDisconnection,
        properties,
      };
    case 'auth':
      return { type: 'auth', reasonCode: parsed.reasonCode, properties };
    default:
      return new Violation(ReasonCode.MalformedPacket, `mqtt-packet reads another packet: ${parsed.cmd}`);
  }
}

function parse(bytes: Uint8Array, version: ProtocolVersion): MqttPacket | Error {
  let parsed: MqttPacket | undefined;
  let failure: Error | undefined;
  const decoder = parser({ protocolVersion: version });
  decoder.on('packet', (packet) => {
    parsed ??= packet;
  });
  decoder.on('error', (error: Error) => {
    failure ??= error;
  });
  try {
    decoder.parse(withoutDuplicateFlag(bytes, version));
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
  }
  return failure ?? parsed ?? new Error('no packet came out');
}

/** The flag that MQTT 3.1 allows and mqtt-packet does not; `bytes` belong to the caller and stay as they are. */
function withoutDuplicateFlag(bytes: Uint8Array, version: ProtocolVersion): Buffer {
  const firstByte = bytes[0] ?? 0;
  if (version !== 3 || (firstByte & FLAG_DUP) === 0) {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  const copy = Buffer.from(bytes);
  copy[0] = firstByte & ~FLAG_DUP;
  return copy;
}

function connackFields(
  parsed: IConnackPacket,
  version: ProtocolVersion,
): Pick<ConnackPacket, 'sessionPresent' | 'reasonCode'> {
  const reasonCode = version === 5 ? parsed.reasonCode : fromConnackReturnCode(parsed.returnCode ?? 0);
  // MQTT 3.1 has no Session Present: its byte is reserved, and says nothing.
  const sessionPresent = version !== 3 && parsed.sessionPresent;
  return { sessionPresent, reasonCode: reasonCode ?? ReasonCode.Success };
}

function subscriptions(parsed: ISubscribePacket): SubscribePacket['subscriptions'] {
  return parsed.subscriptions.map(
    ({ topic, qos, nl, rap, rh }): SubscriptionRequest => ({
      topicFilter: topic,
      qos,
      noLocal: nl ?? false,
      retainAsPublished: rap ?? false,
      retainHandling: rh === 1 || rh === 2 ? rh : 0,
    }),
  );
}

function granted(parsed: ISubackPacket | IUnsubackPacket): number[] {
  return (parsed.granted as number[] | undefined) ?? [];
}

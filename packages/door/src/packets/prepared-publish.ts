import type { Delivery, Message } from '@apus/broker';
import { encodePublish, type ProtocolVersion, type PublishPacket, type PublishProperties } from '@apus/mqtt';
import type { TopicForm } from './topic-aliases.ts';

/** A larger payload is shared by its recipients, and not copied for each Packet Identifier. */
const COPIED_BYTES_MAX = 4096;

/** One encoded PUBLISH, for every client whose packet differs in the Packet Identifier only. */
export interface PreparedPublish {
  /** Size of the MQTT packet, for the client's Maximum Packet Size. */
  readonly packetBytes: number;
  /** The beginning of the packet, or all of it. */
  readonly head: Uint8Array;
  readonly tail: Uint8Array | undefined;
  /** Where the Packet Identifier stands in `head`; undefined at QoS 0. */
  readonly packetIdOffset: number | undefined;
}

export function preparePublish(
  message: Message,
  delivery: Delivery,
  version: ProtocolVersion,
  topicForm: TopicForm | undefined,
  messageExpiryInterval: number | undefined,
): PreparedPublish {
  const packet = publishOf(message, delivery, topicForm, messageExpiryInterval);
  const { bytes, packetIdOffset } = encodePublish(packet, version);
  const whole = bytes.length <= COPIED_BYTES_MAX;
  const cut = whole ? bytes.length : packetIdOffset + (delivery.qos > 0 ? 2 : 0);
  return {
    packetBytes: bytes.length,
    head: whole ? bytes : bytes.subarray(0, cut),
    tail: whole ? undefined : bytes.subarray(cut),
    packetIdOffset: delivery.qos > 0 ? packetIdOffset : undefined,
  };
}

function publishOf(
  message: Message,
  delivery: Delivery,
  topicForm: TopicForm | undefined,
  messageExpiryInterval: number | undefined,
): PublishPacket {
  const properties: PublishProperties = { ...message.properties };
  if (messageExpiryInterval !== undefined) properties.messageExpiryInterval = messageExpiryInterval;
  if (topicForm !== undefined) properties.topicAlias = topicForm.alias;
  // [MQTT-3.3.4-3]
  if (delivery.subscriptionIdentifiers) properties.subscriptionIdentifiers = delivery.subscriptionIdentifiers;
  return {
    type: 'publish',
    topic: topicForm?.known ? '' : message.topic,
    payload: message.payload,
    qos: delivery.qos,
    retain: delivery.retain,
    dup: delivery.dup,
    packetId: delivery.packetId,
    properties,
  };
}

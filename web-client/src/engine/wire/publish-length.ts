import type { MessageProperties, PublishRequest } from '../types.ts';

const encoder = new TextEncoder();

/** Bytes of the whole PUBLISH packet (3.3), which is what a server's Maximum Packet Size counts. */
export function publishLength(
  { topic, payload, qos, properties }: Omit<PublishRequest, 'retain'>,
  protocolVersion: number,
): number {
  const packetId = qos === 0 ? 0 : 2;
  const variable = protocolVersion === 5 ? withLength(propertiesLength(properties ?? {})) : 0;
  const remaining = textLength(topic) + packetId + variable + payload.length;
  return 1 + withLength(remaining);
}

function propertiesLength(properties: MessageProperties): number {
  const { responseTopic, contentType, correlationData, userProperties = [] } = properties;
  let length = 0;
  if (properties.payloadFormatIndicator !== undefined) length += 2;
  if (properties.messageExpiryIntervalSeconds !== undefined) length += 5;
  if (properties.topicAlias !== undefined) length += 3;
  for (const text of [responseTopic, contentType]) if (text !== undefined) length += 1 + textLength(text);
  if (correlationData !== undefined) length += 3 + correlationData.length;
  for (const [name, value] of userProperties) length += 1 + textLength(name) + textLength(value);
  return length;
}

/** UTF-8 with two bytes of length. */
function textLength(text: string): number {
  return 2 + encoder.encode(text).length;
}

/** This many bytes, with a Variable Byte Integer as their length. */
function withLength(length: number): number {
  return length + (length < 0x80 ? 1 : length < 0x4000 ? 2 : length < 0x20_0000 ? 3 : 4);
}

/** Parts of packets as bytes, for packets that no codec would write. */

export const bytes = (...values: number[]): Buffer => Buffer.from(values);

export const u16 = (value: number): Buffer => bytes(value >> 8, value & 0xff);

/** A Variable Byte Integer. */
export function varint(value: number): Buffer {
  const encoded: number[] = [];
  let rest = value;
  do {
    const digit = rest % 128;
    rest = Math.floor(rest / 128);
    encoded.push(rest > 0 ? digit | 0x80 : digit);
  } while (rest > 0);
  return Buffer.from(encoded);
}

/** A length-prefixed string, or length-prefixed bytes that may be no string at all. */
export function text(value: string | Uint8Array): Buffer {
  const encoded = Buffer.from(value as string);
  return Buffer.concat([u16(encoded.length), encoded]);
}

/** A whole packet: its first byte, its Remaining Length, its parts. */
export function packet(firstByte: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([bytes(firstByte), varint(body.length), body]);
}

/** The property list of MQTT 5.0: its length and its parts. */
export function properties(...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([varint(body.length), body]);
}

export const NO_PROPERTIES = properties();

export const PropertyId = {
  payloadFormatIndicator: 0x01,
  messageExpiryInterval: 0x02,
  contentType: 0x03,
  responseTopic: 0x08,
  correlationData: 0x09,
  subscriptionIdentifier: 0x0b,
  topicAlias: 0x23,
  userProperty: 0x26,
} as const;

export const userProperty = (name: string, value: string): Buffer =>
  Buffer.concat([bytes(PropertyId.userProperty), text(name), text(value)]);

/** The bytes of a PUBLISH from its Property Length on. */
function afterTopic(publish: Buffer): Buffer {
  let start = 1;
  while (publish.readUInt8(start) >= 0x80) start += 1;
  start += 1;
  const topicLength = publish.readUInt16BE(start);
  const hasPacketId = (publish.readUInt8(0) & 0x06) !== 0;
  return publish.subarray(start + 2 + topicLength + (hasPacketId ? 2 : 0));
}

/** The properties of an MQTT 5.0 PUBLISH, each with its bytes, in the order of the packet. */
export function propertiesOf(publish: Buffer): { id: number; value: Buffer }[] {
  const { list } = splitProperties(afterTopic(publish));
  const found: { id: number; value: Buffer }[] = [];
  for (let at = 0; at < list.length; ) {
    const id = list.readUInt8(at);
    const length = propertyLength(id, list.subarray(at + 1));
    found.push({ id, value: list.subarray(at + 1, at + 1 + length) });
    at += 1 + length;
  }
  return found;
}

/** Names and values of the User Properties of a PUBLISH, in the order of the packet. */
export function userPropertiesOf(publish: Buffer): [string, string][] {
  return propertiesOf(publish)
    .filter(({ id }) => id === PropertyId.userProperty)
    .map(({ value }) => {
      const nameLength = value.readUInt16BE(0);
      return [value.toString('utf8', 2, 2 + nameLength), value.toString('utf8', 4 + nameLength)];
    });
}

function splitProperties(from: Buffer): { list: Buffer } {
  let length = 0;
  let at = 0;
  for (let factor = 1; ; factor *= 128, at += 1) {
    const byte = from.readUInt8(at);
    length += (byte & 0x7f) * factor;
    if (byte < 0x80) break;
  }
  return { list: from.subarray(at + 1, at + 1 + length) };
}

function propertyLength(id: number, value: Buffer): number {
  switch (id) {
    case PropertyId.payloadFormatIndicator:
      return 1;
    case PropertyId.messageExpiryInterval:
      return 4;
    case PropertyId.topicAlias:
      return 2;
    case PropertyId.subscriptionIdentifier:
      return value.findIndex((byte) => byte < 0x80) + 1;
    case PropertyId.userProperty: {
      const nameLength = value.readUInt16BE(0);
      return 4 + nameLength + value.readUInt16BE(2 + nameLength);
    }
    default:
      return 2 + value.readUInt16BE(0);
  }
}

import { bodyOf, byteAt, concat, packetOf, uint16At, varint, varintAt } from './packet.ts';

/** The properties of CONNECT, CONNACK and AUTH that a transport has to know, by their identifiers (MQTT 5.0, 2.2.2.2). */
export const PropertyId = {
  SESSION_EXPIRY_INTERVAL: 0x11,
  SERVER_KEEP_ALIVE: 0x13,
  AUTHENTICATION_METHOD: 0x15,
  AUTHENTICATION_DATA: 0x16,
  RECEIVE_MAXIMUM: 0x21,
} as const;

/** Identifiers by how their value is written; all that CONNECT, CONNACK and SUBSCRIBE may hold. */
const BYTE = [0x17, 0x19, 0x24, 0x25, 0x28, 0x29, 0x2a];
const TWO_BYTES = [0x13, 0x21, 0x22];
const FOUR_BYTES = [0x11, 0x27];
const STRING_PAIR = 0x26;

interface Properties {
  /** Of those that are numbers. */
  readonly values: Map<number, number>;
  /** Each as it is written: its identifier, then its value. */
  readonly fields: readonly Uint8Array[];
  readonly end: number;
}

/** The properties whose length is at `index`. */
export function propertiesAt(bytes: Uint8Array, index: number): Properties {
  const values = new Map<number, number>();
  const fields: Uint8Array[] = [];
  const length = varintAt(bytes, index);
  if (length === undefined) return { values, fields, end: bytes.length };
  const end = length.end + length.value;
  for (let at = length.end; at < end; ) {
    const id = byteAt(bytes, at);
    const from = at;
    at += 1;
    if (BYTE.includes(id)) {
      values.set(id, byteAt(bytes, at));
      at += 1;
    } else if (TWO_BYTES.includes(id)) {
      values.set(id, uint16At(bytes, at));
      at += 2;
    } else if (FOUR_BYTES.includes(id)) {
      values.set(id, uint16At(bytes, at) * 65_536 + uint16At(bytes, at + 2));
      at += 4;
    } else {
      at += 2 + uint16At(bytes, at);
      if (id === STRING_PAIR) at += 2 + uint16At(bytes, at);
    }
    fields.push(bytes.subarray(from, at));
  }
  return { values, fields, end };
}

/** A property whose value is a string or binary data. */
export function stringProperty(id: number, value: string): Uint8Array {
  const bytes = new TextEncoder().encode(value);
  return concat([Uint8Array.of(id, bytes.length >> 8, bytes.length & 255), bytes]);
}

export function hasProperty({ fields }: Properties, id: number): boolean {
  return fields.some((field) => byteAt(field, 0) === id);
}

/** The packet without some of its properties at `index`, by their identifiers, and with others. */
export function changeProperties(
  packet: Uint8Array,
  index: number,
  removed: readonly number[],
  added: readonly Uint8Array[],
): Uint8Array {
  const { fields, end } = propertiesAt(packet, index);
  const kept = fields.filter((field) => !removed.includes(byteAt(field, 0)));
  const bytes = concat([...kept, ...added]);
  const before = packet.subarray(bodyOf(packet), index);
  return packetOf(byteAt(packet, 0), [before, varint(bytes.length), bytes, packet.subarray(end)]);
}

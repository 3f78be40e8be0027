import { bodyOf, byteAt, concat, packetOf, uint16At, varint, varintAt } from './packet.ts';

/**
 * Identifiers by the length of their value (one, two, three and four bytes): all number properties of CONNECT, CONNACK
 * and SUBSCRIBE.
 */
const WIDTHS: readonly (readonly number[])[] = [
  [0x17, 0x19, 0x24, 0x25, 0x28, 0x29, 0x2a],
  [0x13, 0x21, 0x22],
  [],
  [0x11, 0x27],
];
const STRING_PAIR = 0x26;

interface Properties {
  /** The length of the value by identifier; 0 if the value is no number. */
  readonly values: Map<number, number>;
  /** Writes properties: each identifier, then its value. */
  readonly fields: readonly Uint8Array[];
  readonly end: number;
}

/** Reads the properties; their length is at `index`. */
export function propertiesAt(bytes: Uint8Array, index: number): Properties {
  const values = new Map<number, number>();
  const fields: Uint8Array[] = [];
  const length = varintAt(bytes, index);
  if (length === undefined) return { values, fields, end: bytes.length };
  const end = length.end + length.value;
  for (let at = length.end; at < end; ) {
    const id = byteAt(bytes, at);
    const from = at;
    const width = 1 + WIDTHS.findIndex((ids) => ids.includes(id));
    at += 1;
    const number = bytes.subarray(at, at + width);
    values.set(
      id,
      number.reduce((value, byte) => value * 256 + byte, 0),
    );
    at += width || 2 + uint16At(bytes, at);
    if (id === STRING_PAIR) at += 2 + uint16At(bytes, at);
    fields.push(bytes.subarray(from, at));
  }
  return { values, fields, end };
}

/** A property whose value is a string or binary data. */
export function stringProperty(id: number, value: string): Uint8Array {
  const bytes = new TextEncoder().encode(value);
  return concat([Uint8Array.of(id, bytes.length >> 8, bytes.length & 255), bytes]);
}

/** The packet with the properties at `index` changed: without those of the given identifiers, and with the new ones. */
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

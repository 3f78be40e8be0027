import { byteAt, uint16At, varintAt } from './packet.ts';

/** The properties of CONNECT and CONNACK that a transport has to know, by their identifiers (MQTT 5.0, 2.2.2.2). */
export const PropertyId = {
  SESSION_EXPIRY_INTERVAL: 0x11,
  SERVER_KEEP_ALIVE: 0x13,
  RECEIVE_MAXIMUM: 0x21,
} as const;

/** Identifiers by how their value is written; all that CONNECT, CONNACK and SUBSCRIBE may hold. */
const BYTE = [0x17, 0x19, 0x24, 0x25, 0x28, 0x29, 0x2a];
const TWO_BYTES = [0x13, 0x21, 0x22];
const FOUR_BYTES = [0x11, 0x27];
const STRING_PAIR = 0x26;

/** The numeric properties at `index`; of strings and binary data only that they are there. */
export function propertiesAt(bytes: Uint8Array, index: number): { values: Map<number, number>; end: number } {
  const values = new Map<number, number>();
  const length = varintAt(bytes, index);
  if (length === undefined) return { values, end: bytes.length };
  const end = length.end + length.value;
  for (let at = length.end; at < end; ) {
    const id = byteAt(bytes, at);
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
  }
  return { values, end };
}

/** Bytes, and lists of bytes as deep as reads best. */
export type Bytes = readonly (number | Bytes)[];

export function flat(bytes: Bytes): number[] {
  return bytes.flatMap((byte) => (typeof byte === 'number' ? [byte] : flat(byte)));
}

export function buffer(bytes: Bytes): Buffer {
  return Buffer.from(flat(bytes));
}

/** A UTF-8 Encoded String: its length in two bytes, then its bytes. */
export function text(value: string): Bytes {
  return binary([...Buffer.from(value)]);
}

/** Binary Data: its length in two bytes, then its bytes. */
export function binary(value: readonly number[]): Bytes {
  return [value.length >> 8, value.length & 0xff, value];
}

/** A whole packet: first byte, Remaining Length, body. */
export function packet(firstByte: number, body: Bytes): Buffer {
  return buffer([firstByte, section(body)]);
}

/** Something behind its length as a Variable Byte Integer: a body, or a property section. */
export function section(body: Bytes): Bytes {
  const bytes = flat(body);
  const length: number[] = [];
  let rest = bytes.length;
  do {
    length.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    rest >>= 7;
  } while (rest > 0);
  return [length, bytes];
}

export const NO_PROPERTIES: Bytes = [0];

/** A CONNECT up to its properties or client identifier. */
export function connectHead(level: number, flags: number): Bytes {
  return [text(level === 3 ? 'MQIsdp' : 'MQTT'), level, flags, 0, 60];
}

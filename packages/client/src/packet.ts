import * as PacketType from './packet-type.ts';

/** The parts of an MQTT packet that a transport reads: its end and its type. */

export const PINGREQ: Uint8Array = Uint8Array.of(0xc0, 0);
export const PINGRESP: Uint8Array = Uint8Array.of(0xd0, 0);

export function viewOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

export function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}

export function uint16At(bytes: Uint8Array, index: number): number {
  return (byteAt(bytes, index) << 8) | byteAt(bytes, index + 1);
}

export function typeOf(packet: Uint8Array): number {
  return byteAt(packet, 0) >> 4;
}

/** The packet identifier: behind the topic name in a PUBLISH above QoS 0, first in an acknowledgement. */
export function packetIdOf(packet: Uint8Array): number {
  const at = bodyOf(packet);
  return uint16At(packet, typeOf(packet) === PacketType.PUBLISH ? at + 2 + uint16At(packet, at) : at);
}

export function qosOf(publish: Uint8Array): number {
  return (byteAt(publish, 0) >> 1) & 3;
}

/** Reads a Variable Byte Integer and where it ends; `undefined` if it is not whole or longer than four bytes. */
export function varintAt(bytes: Uint8Array, index: number): { value: number; end: number } | undefined {
  let value = 0;
  for (let count = 0; count < 4 && index + count < bytes.length; count += 1) {
    const byte = byteAt(bytes, index + count);
    value += (byte & 127) * 128 ** count;
    if (byte < 128) return { value, end: index + count + 1 };
  }
  return undefined;
}

/** Writes a Variable Byte Integer. */
export function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; bytes.length === 0 || rest > 0; rest >>= 7) {
    bytes.push((rest & 127) | (rest > 127 ? 128 : 0));
  }
  return Uint8Array.from(bytes);
}

/** Builds a packet from its first byte and the parts that follow Remaining Length. */
export function packetOf(first: number, parts: readonly Uint8Array[]): Uint8Array {
  const body = concat(parts);
  return concat([Uint8Array.of(first), varint(body.length), body]);
}

/** Where the variable header begins. */
export function bodyOf(packet: Uint8Array): number {
  return varintAt(packet, 1)?.end ?? packet.length;
}

/** The packets in the bytes, as views; `undefined` if the last one is not whole. */
export function splitPackets(bytes: Uint8Array): Uint8Array[] | undefined {
  const packets: Uint8Array[] = [];
  let from = 0;
  while (from < bytes.length) {
    const length = varintAt(bytes, from + 1);
    if (length === undefined) return undefined;
    const end = length.end + length.value;
    if (end > bytes.length) return undefined;
    packets.push(bytes.subarray(from, end));
    from = end;
  }
  return packets;
}

export function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

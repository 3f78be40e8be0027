/*
 * Replaces `@platformatic/wasm-utils`, which reads a file that a bundle of one module does not have. It computes the
 * checksum that every batch of records carries (CRC-32C, RFC 3720, appendix B.4). The functions compress nothing.
 */

/** The polynomial, bits reversed. */
const POLYNOMIAL = 0x82f6_3b78;
const BITS = 8;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < BITS; bit += 1) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  return value;
});

/** The bytes come in parts, as the Kafka client collects them. */
interface Parts {
  readonly buffer: Uint8Array;
}

/** @returns an unsigned number of 32 bits */
export function crc32c(data: Uint8Array | Parts): number {
  const bytes = data instanceof Uint8Array ? data : data.buffer;
  let crc = 0xffff_ffff;
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> BITS);
  return (crc ^ 0xffff_ffff) >>> 0;
}

function notHere(): never {
  throw new Error('a function of a deployment compresses no records');
}

export const lz4Compress = notHere;
export const lz4Decompress = notHere;
export const snappyCompress = notHere;
export const snappyDecompress = notHere;

/** FIN, opcode 2 (binary), RFC 6455 section 5.2. */
const FINAL_BINARY = 0x82;
const LENGTH_16_BIT = 126;
const LENGTH_64_BIT = 127;

/** The header of an unmasked binary frame with a payload of this many bytes. */
export function frameHeader(payloadBytes: number): Buffer {
  if (payloadBytes < LENGTH_16_BIT) return Buffer.of(FINAL_BINARY, payloadBytes);
  if (payloadBytes <= 0xffff) {
    return Buffer.of(FINAL_BINARY, LENGTH_16_BIT, payloadBytes >>> 8, payloadBytes & 0xff);
  }
  const header = Buffer.alloc(10);
  header[0] = FINAL_BINARY;
  header[1] = LENGTH_64_BIT;
  header.writeUIntBE(payloadBytes, 4, 6);
  return header;
}

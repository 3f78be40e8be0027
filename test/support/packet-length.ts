/** The length of the packet at the beginning of these bytes; 0 until all of it is there. */
export function packetLength(bytes: Buffer): number {
  let remaining = 0;
  for (let index = 1; index <= 4 && index < bytes.length; index += 1) {
    const byte = bytes.readUInt8(index);
    remaining += (byte & 0x7f) * 128 ** (index - 1);
    if (byte < 0x80) return bytes.length > index + remaining ? index + 1 + remaining : 0;
  }
  return 0;
}

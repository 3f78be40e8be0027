/** For fewer bytes a view of words costs more than it saves. */
const WORDWISE_FROM_BYTES = 64;
const WORD_BYTES = 4;

/**
 * Unmasks bytes in place (RFC 6455 section 5.3).
 *
 * @param mask its four bytes, the first in the high bits
 * @param offset bytes of the frame's payload that came before
 */
export function unmask(bytes: Uint8Array, start: number, end: number, mask: number, offset: number): void {
  let at = start;
  if (end - start >= WORDWISE_FROM_BYTES) {
    while ((bytes.byteOffset + at) % WORD_BYTES !== 0) at = unmaskByte(bytes, at, mask, offset + at - start);
    at = unmaskWords(bytes, at, end, rotated(mask, offset + at - start));
  }
  while (at < end) at = unmaskByte(bytes, at, mask, offset + at - start);
}

function unmaskByte(bytes: Uint8Array, at: number, mask: number, offset: number): number {
  bytes[at] = (bytes[at] ?? 0) ^ (mask >>> (24 - ((offset & 3) << 3)));
  return at + 1;
}

/** Returns where the bytes begin that do not fill a word. */
function unmaskWords(bytes: Uint8Array, start: number, end: number, mask: number): number {
  const count = Math.floor((end - start) / WORD_BYTES);
  const words = new DataView(bytes.buffer, bytes.byteOffset + start, count * WORD_BYTES);
  for (let at = 0; at < count * WORD_BYTES; at += WORD_BYTES) words.setInt32(at, words.getInt32(at) ^ mask);
  return start + count * WORD_BYTES;
}

/** The mask as it stands at a later byte. */
function rotated(mask: number, offset: number): number {
  const bits = (offset & 3) << 3;
  return bits === 0 ? mask : (mask << bits) | (mask >>> (32 - bits));
}

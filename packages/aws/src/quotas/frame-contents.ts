import type { LinkState } from '@apus/broker';
import type { FrameContents } from '@apus/door';

const PUBLISH = 3;

/** The handshake is charged with CONNECT's frame, since its client is not known before. */
const FRAMES_OF_A_CONNECTION = 2;

/** Counts the charged parts of a frame. It does not look for malformed packets: they end the connection. */
export function contentsOf(bytes: Uint8Array, { phase }: LinkState): FrameContents {
  const frames = phase === 'new' ? FRAMES_OF_A_CONNECTION : 1;
  let packets = 0;
  let publishes = 0;
  for (let start = 0; start < bytes.length; start = endOfPacket(bytes, start)) {
    packets += 1;
    if ((bytes[start] ?? 0) >> 4 === PUBLISH) publishes += 1;
  }
  return { frames, packets, publishes, bytes: bytes.length };
}

/** The Remaining Length stands behind the first byte, in up to four bytes (section 2.1.4). */
function endOfPacket(bytes: Uint8Array, start: number): number {
  let length = 0;
  for (let index = 0; index < 4; index += 1) {
    const byte = bytes[start + 1 + index] ?? 0;
    length += (byte & 0x7f) * 128 ** index;
    if (byte < 0x80) return start + 2 + index + length;
  }
  return bytes.length;
}

/** A Variable Byte Integer has at most four bytes (1.5.5). */
const LENGTH_BYTES_MAX = 4;

/**
 * Cuts a stream of bytes into MQTT packets. The packets are views of the given bytes, except for one that came in
 * pieces.
 */
export class PacketSplitter {
  #rest: Uint8Array = new Uint8Array(0);

  push(chunk: Uint8Array): Uint8Array[] {
    const bytes = this.#rest.length === 0 ? chunk : concatenated(this.#rest, chunk);
    const packets: Uint8Array[] = [];
    let at = 0;
    for (;;) {
      const length = packetLength(bytes, at);
      if (length === undefined || at + length > bytes.length) break;
      packets.push(bytes.subarray(at, at + length));
      at += length;
    }
    this.#rest = bytes.subarray(at);
    return packets;
  }
}

/** The length of the packet that begins there, including its fixed header; undefined while it is not known. */
function packetLength(bytes: Uint8Array, start: number): number | undefined {
  let remaining = 0;
  for (let index = 0; index < LENGTH_BYTES_MAX; index += 1) {
    const byte = bytes[start + 1 + index];
    if (byte === undefined) return undefined;
    remaining += (byte & 0x7f) * 128 ** index;
    if ((byte & 0x80) === 0) return 2 + index + remaining;
  }
  // Malformed: the MQTT library closes the connection, and the stream ends here.
  return Number.POSITIVE_INFINITY;
}

function concatenated(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

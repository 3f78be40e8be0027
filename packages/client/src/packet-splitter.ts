import { FRAME_BYTES_MAX } from './limits.ts';
import { varintAt } from './packet.ts';

/**
 * One packet that the library wrote. `size` is its length by its header; if a packet is over the limit, only its head
 * is kept.
 */
export interface SplitPacket {
  readonly bytes: Uint8Array;
  readonly size: number;
}

/** The head of a packet that is too large: enough to find its packet identifier (header, topic name, identifier). */
const HEAD_BYTES_MAX = 5 + 2 + 65_535 + 2;

/**
 * Cuts a stream of chunks into packets. mqtt-packet writes a packet in pieces, and several packets at once, so chunks
 * do not end where packets do. The bytes are copied: the application may use its payload's memory again.
 */
export class PacketSplitter {
  #header: number[] = [];
  #bytes: Uint8Array | undefined;
  #size = 0;
  #filled = 0;

  /** The packets that the chunk completes. */
  push(chunk: Uint8Array): SplitPacket[] {
    const packets: SplitPacket[] = [];
    let from = 0;
    while (from < chunk.length) {
      from =
        this.#bytes === undefined ? this.#readHeader(chunk, from) : this.#readBody(this.#bytes, chunk, from);
      if (this.#bytes === undefined || this.#filled < this.#size) continue;
      packets.push({ bytes: this.#bytes, size: this.#size });
      this.#bytes = undefined;
    }
    return packets;
  }

  #readHeader(chunk: Uint8Array, from: number): number {
    this.#header.push(...chunk.subarray(from, from + 1));
    const header = Uint8Array.from(this.#header);
    const length = varintAt(header, 1);
    if (length === undefined) return from + 1;
    this.#size = length.end + length.value;
    this.#bytes = new Uint8Array(
      this.#size <= FRAME_BYTES_MAX ? this.#size : Math.min(this.#size, HEAD_BYTES_MAX),
    );
    this.#bytes.set(header);
    this.#filled = header.length;
    this.#header = [];
    return from + 1;
  }

  #readBody(bytes: Uint8Array, chunk: Uint8Array, from: number): number {
    const end = Math.min(chunk.length, from + this.#size - this.#filled);
    const room = Math.max(0, bytes.length - this.#filled);
    if (room > 0) bytes.set(chunk.subarray(from, Math.min(end, from + room)), this.#filled);
    this.#filled += end - from;
    return end;
  }
}

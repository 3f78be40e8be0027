import { isPublish } from './frame.ts';
import { PACKED_BYTES_MAX } from './text-frame.ts';

/** Packets on their way to one connection, in order. */
export class PacketsOut {
  #packets: Uint8Array[] = [];
  #bytes = 0;
  #mustArrive = false;
  #publishes = 0;

  /** Something in it is more than QoS 0: to lose it is to lose the connection. */
  get mustArrive(): boolean {
    return this.#mustArrive;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Those that are a PUBLISH. */
  get publishes(): number {
    return this.#publishes;
  }

  get isEmpty(): boolean {
    return this.#packets.length === 0;
  }

  push(packet: Uint8Array, mustArrive: boolean): void {
    this.#packets.push(packet);
    this.#mustArrive ||= mustArrive;
    this.#bytes += packet.length;
    if (isPublish(packet)) this.#publishes += 1;
  }

  /**
   * Takes everything as frames of whole packets, each no longer than is billed as one message unless one packet is.
   * The first may be allowed to be longer.
   */
  takeFrames(firstBytesMax = PACKED_BYTES_MAX): Buffer[] {
    const frames: Buffer[] = [];
    let gathered: Uint8Array[] = [];
    let bytes = 0;
    for (const packet of this.#packets) {
      const bytesMax = frames.length === 0 ? firstBytesMax : PACKED_BYTES_MAX;
      if (bytes > 0 && bytes + packet.length > bytesMax) {
        frames.push(Buffer.concat(gathered));
        gathered = [];
        bytes = 0;
      }
      gathered.push(packet);
      bytes += packet.length;
    }
    if (gathered.length > 0) frames.push(Buffer.concat(gathered));
    this.#packets = [];
    this.#bytes = 0;
    this.#mustArrive = false;
    this.#publishes = 0;
    return frames;
  }
}

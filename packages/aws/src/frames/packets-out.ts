import type { OutgoingPacket } from './frame.ts';

/** Packets on their way to one connection, in order. */
export class PacketsOut {
  #packets: OutgoingPacket[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  push(bytes: Uint8Array, mustArrive: boolean): void {
    this.#packets.push({ bytes, mustArrive });
    this.#bytes += bytes.length;
  }

  /** Takes everything. */
  take(): readonly OutgoingPacket[] {
    const packets = this.#packets;
    this.#packets = [];
    this.#bytes = 0;
    return packets;
  }
}

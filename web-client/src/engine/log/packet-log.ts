import { PACKETS_BYTES_MAX, PACKETS_MAX } from '../limits.ts';
import type { FrameOfPacket, LoggedPacket, PacketLog } from '../types.ts';
import { FrameListeners, type Schedule } from './frames.ts';
import { Ring } from './ring.ts';

export interface PacketLogLimits {
  readonly packetsMax: number;
  readonly bytesMax: number;
}

/** The fields of a packet that is not yet in the log. `bytes` may be a view of a larger chunk. */
export type PacketFields = Pick<LoggedPacket, 'direction' | 'atMs' | 'bytes'> & {
  /** Ascends, and may skip numbers. */
  readonly id: number;
};

type KeptPacket = LoggedPacket & { readonly id: number; frame: FrameOfPacket | undefined };

/** The timeline of a connection: its last packets, in both directions. */
export class BoundedPacketLog implements PacketLog {
  readonly limits: PacketLogLimits;
  readonly #ring: Ring<KeptPacket>;
  readonly #frames: FrameListeners;
  #bytes = 0;
  #changes = 0;

  constructor(
    limits: PacketLogLimits = { packetsMax: PACKETS_MAX, bytesMax: PACKETS_BYTES_MAX },
    schedule?: Schedule,
  ) {
    this.limits = limits;
    this.#ring = new Ring(limits.packetsMax);
    this.#frames = new FrameListeners(schedule);
  }

  get size(): number {
    return this.#ring.size;
  }

  get firstSequence(): number {
    return this.#ring.first;
  }

  get endSequence(): number {
    return this.#ring.end;
  }

  get changes(): number {
    return this.#changes;
  }

  at(sequence: number): LoggedPacket | undefined {
    return this.#ring.at(sequence);
  }

  append(batch: readonly PacketFields[]): void {
    for (const { id, direction, atMs, bytes } of batch) {
      if (this.#ring.isFull) this.#evict();
      const firstByte = bytes[0] ?? 0;
      const sequence = this.#ring.end;
      this.#ring.push({
        id,
        sequence,
        frame: undefined,
        direction,
        atMs,
        type: firstByte >> 4,
        firstByte,
        length: bytes.length,
        bytes,
      });
      this.#bytes += bytes.length;
      while (this.#bytes > this.limits.bytesMax && this.#ring.size > 1) this.#evict();
    }
    if (batch.length > 0) this.#changed();
  }

  clear(): void {
    this.#ring.clear();
    this.#bytes = 0;
    this.#changed();
  }

  /** Sets the frame of a packet, if it is still in the log. */
  link(id: number, frame: FrameOfPacket): void {
    const packet = this.#ring.find(id, (kept) => kept.id);
    if (packet === undefined) return;
    packet.frame = frame;
    this.#changed();
  }

  onFrame(listener: () => void): () => void {
    return this.#frames.add(listener);
  }

  #changed(): void {
    this.#changes += 1;
    this.#frames.changed();
  }

  #evict(): void {
    this.#bytes -= this.#ring.shift()?.length ?? 0;
  }
}

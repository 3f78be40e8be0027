import { PACKETS_BYTES_MAX, PACKETS_MAX } from '../limits.ts';
import type { FrameOfPacket, LoggedPacket, PacketLog } from '../types.ts';
import { BoundedLog, type LogLimits } from './bounded-log.ts';
import type { Schedule } from './frames.ts';

/** The fields of a packet that is not yet in the log. `bytes` may be a view of a larger chunk. */
export type PacketFields = Pick<LoggedPacket, 'direction' | 'atMs' | 'bytes'> & {
  /** Ascends, and may skip numbers. */
  readonly id: number;
};

type KeptPacket = LoggedPacket & { readonly id: number; frame: FrameOfPacket | undefined };

const LIMITS: LogLimits = { countMax: PACKETS_MAX, bytesMax: PACKETS_BYTES_MAX };

/** The timeline of a connection: its last packets, in both directions. */
export class BoundedPacketLog extends BoundedLog<KeptPacket> implements PacketLog {
  constructor(limits = LIMITS, schedule?: Schedule) {
    super(limits, ({ length }) => length, schedule);
  }

  get firstSequence(): number {
    return this.ring.first;
  }

  get endSequence(): number {
    return this.ring.end;
  }

  at(sequence: number): LoggedPacket | undefined {
    return this.ring.at(sequence);
  }

  append(batch: readonly PacketFields[]): void {
    for (const { bytes, ...fields } of batch) {
      const firstByte = bytes[0] ?? 0;
      const sequence = this.ring.end;
      const { length } = bytes;
      this.push({ ...fields, sequence, frame: undefined, type: firstByte >> 4, firstByte, length, bytes });
    }
    if (batch.length > 0) this.changed();
  }

  /** Sets the frame of a packet, if it is still in the log. */
  link(id: number, frame: FrameOfPacket): void {
    const packet = this.ring.find(id, (kept) => kept.id);
    if (packet === undefined) return;
    packet.frame = frame;
    this.changed();
  }
}

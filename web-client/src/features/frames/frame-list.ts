import { packetName } from '../../engine/inspect/packet-types.ts';
import type { FrameLog, LoggedFrame } from '../../engine/types.ts';

/** The shown part of the log, newest first. The log is small enough to be searched linearly. */
export function shownFrames(log: FrameLog, hideEmpty: boolean): readonly LoggedFrame[] {
  const frames = log.newest();
  return hideEmpty ? frames.filter(({ packets }) => packets.length > 0) : frames;
}

/** The types of a frame's packets with counts, in the order in which they first occur: `PUBACK, 3 × PUBLISH`. */
export function packetsText(packets: readonly Uint8Array[]): string {
  const counts = new Map<string, number>();
  for (const packet of packets) {
    const name = packetName((packet[0] ?? 0) >> 4);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => (count === 1 ? name : `${count} × ${name}`)).join(', ');
}

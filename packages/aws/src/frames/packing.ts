import type { OutgoingPacket } from './frame.ts';
import { PACKED_BYTES_MAX } from './text-frame.ts';

/**
 * Groups packets in their order, in each group as many as are billed as one message, or one larger packet. The first
 * group may be allowed to take more.
 */
export function packed(
  packets: readonly OutgoingPacket[],
  firstBytesMax = PACKED_BYTES_MAX,
): readonly (readonly OutgoingPacket[])[] {
  const groups: OutgoingPacket[][] = [];
  let group: OutgoingPacket[] = [];
  let bytes = 0;
  for (const packet of packets) {
    const { length } = packet.bytes;
    const bytesMax = groups.length === 0 ? firstBytesMax : PACKED_BYTES_MAX;
    if (bytes > 0 && bytes + length > bytesMax) {
      groups.push(group);
      group = [];
      bytes = 0;
    }
    group.push(packet);
    bytes += length;
  }
  if (group.length > 0) groups.push(group);
  return groups;
}

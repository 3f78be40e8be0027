import { PacketType } from '../../engine/inspect/packet-types.ts';
import type { LoggedPacket, PacketLog } from '../../engine/types.ts';

/** Packet types that fill the timeline of a busy connection. */
const DELIVERY: ReadonlySet<number> = new Set([
  PacketType.PUBLISH,
  PacketType.PUBACK,
  PacketType.PUBREC,
  PacketType.PUBREL,
  PacketType.PUBCOMP,
]);
const PINGS: ReadonlySet<number> = new Set([PacketType.PINGREQ, PacketType.PINGRESP]);

export interface PacketFilter {
  readonly hidesDelivery: boolean;
  readonly hidesPings: boolean;
}

/** The shown packets of the timeline, newest first. The log is small enough to be gone through. */
export function shownPackets(
  log: PacketLog,
  { hidesDelivery, hidesPings }: PacketFilter,
): readonly LoggedPacket[] {
  const shown: LoggedPacket[] = [];
  for (let sequence = log.endSequence - 1; sequence >= log.firstSequence; sequence -= 1) {
    const packet = log.at(sequence);
    if (packet === undefined) continue;
    if (hidesDelivery && DELIVERY.has(packet.type)) continue;
    if (hidesPings && PINGS.has(packet.type)) continue;
    shown.push(packet);
  }
  return shown;
}

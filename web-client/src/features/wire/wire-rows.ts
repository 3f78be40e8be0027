import { PacketType, packetName } from '../../engine/inspect/packet-types.ts';
import type { FrameLog, FrameOfPacket, LoggedFrame, LoggedPacket, PacketLog } from '../../engine/types.ts';

/** A frame of the gateway door, a packet in it, or a packet by itself. */
export interface WireRow {
  readonly key: string;
  readonly atMs: number;
  readonly direction: 'in' | 'out';
  readonly frame: LoggedFrame | undefined;
  /** Undefined: the row is the frame itself. */
  readonly packet: Uint8Array | undefined;
  /** Of a packet that stands by itself: its frame, or why it has none; undefined while it waits for one. */
  readonly frameOf: FrameOfPacket | undefined;
}

export interface WireFilter {
  readonly hidesDelivery: boolean;
  readonly hidesPings: boolean;
  readonly hidesEmptyFrames: boolean;
}

/** Packets of a frame that have rows: a frame of the smallest ones holds thousands. */
export const PACKETS_OF_FRAME_MAX = 200;

/** Rows in all: beyond them nobody scrolls. */
const ROWS_MAX = 20_000;

/** Packet types that fill the timeline of a busy connection. */
const DELIVERY: ReadonlySet<number> = new Set([
  PacketType.PUBLISH,
  PacketType.PUBACK,
  PacketType.PUBREC,
  PacketType.PUBREL,
  PacketType.PUBCOMP,
]);
const PINGS: ReadonlySet<number> = new Set([PacketType.PINGREQ, PacketType.PINGRESP]);

/**
 * What went over the wire, newest first: at the node door packets, at the gateway door frames with their packets, and
 * between them the packets that the transport kept. Rows are made once: the table draws a row again where it is another.
 */
export class WireRows {
  readonly #packets: PacketLog;
  /** Gateway door only. */
  readonly #frames: FrameLog | undefined;
  readonly #filter: WireFilter;
  readonly #ofFrames = new WeakMap<LoggedFrame, readonly WireRow[]>();
  readonly #ofPackets = new WeakMap<LoggedPacket, WireRow>();
  #rows: readonly WireRow[] = [];
  #changes = -1;

  constructor(packets: PacketLog, frames: FrameLog | undefined, filter: WireFilter) {
    this.#packets = packets;
    this.#frames = frames;
    this.#filter = filter;
  }

  now(): readonly WireRow[] {
    const changes = this.#packets.changes + (this.#frames?.changes ?? 0);
    if (changes !== this.#changes) this.#rows = this.#merged();
    this.#changes = changes;
    return this.#rows;
  }

  #merged(): readonly WireRow[] {
    const alone = this.#alone();
    if (this.#frames === undefined) return alone;
    const rows: WireRow[] = [];
    let next = 0;
    for (const frame of this.#frames.newest()) {
      if (rows.length >= ROWS_MAX) return rows;
      for (; (alone[next]?.atMs ?? 0) > frame.atMs; next += 1) rows.push(alone[next] as WireRow);
      rows.push(...this.#ofFrame(frame));
    }
    return [...rows, ...alone.slice(next)];
  }

  /** Packets of the timeline that no frame of the log shows. */
  #alone(): readonly WireRow[] {
    const rows: WireRow[] = [];
    const { firstSequence, endSequence } = this.#packets;
    for (let sequence = endSequence - 1; sequence >= firstSequence; sequence -= 1) {
      const packet = this.#packets.at(sequence);
      if (packet !== undefined && !this.#hides(packet.type) && this.#isAlone(packet))
        rows.push(this.#ofPacket(packet));
    }
    // The log has them as the library reads and writes them: what came in meanwhile has an earlier time.
    return rows.sort((one, other) => other.atMs - one.atMs);
  }

  #isAlone({ frame, type }: LoggedPacket): boolean {
    if (this.#frames === undefined || typeof frame !== 'number') return true;
    // The handshake answers CONNECT without a packet.
    return type === PacketType.CONNACK && this.#frames.withNumber(frame)?.kind === 'handshake';
  }

  #hides(type: number): boolean {
    const { hidesDelivery, hidesPings } = this.#filter;
    return (hidesDelivery && DELIVERY.has(type)) || (hidesPings && PINGS.has(type));
  }

  #ofPacket(logged: LoggedPacket): WireRow {
    const { sequence, frame, atMs, direction, bytes } = logged;
    const known = this.#ofPackets.get(logged);
    if (known !== undefined && known.frameOf === frame) return known;
    const row = { key: `p${sequence}`, atMs, direction, frame: undefined, packet: bytes, frameOf: frame };
    this.#ofPackets.set(logged, row);
    return row;
  }

  #ofFrame(frame: LoggedFrame): readonly WireRow[] {
    const known = this.#ofFrames.get(frame);
    if (known !== undefined) return known;
    const { number, atMs, direction, packets } = frame;
    const common = { atMs, direction, frame, frameOf: number };
    const shown = packets
      .slice(0, PACKETS_OF_FRAME_MAX)
      .flatMap((packet, index) =>
        this.#hides(typeOf(packet)) ? [] : [{ ...common, key: `f${number}.${index}`, packet }],
      );
    const isHidden = packets.length === 0 ? this.#filter.hidesEmptyFrames : shown.length === 0;
    const rows = isHidden ? [] : [{ ...common, key: `f${number}`, packet: undefined }, ...shown];
    this.#ofFrames.set(frame, rows);
    return rows;
  }
}

function typeOf(packet: Uint8Array): number {
  return (packet[0] ?? 0) >> 4;
}

/** The types of a frame's packets with counts, in the order in which they first occur: `PUBACK, 3 × PUBLISH`. */
export function packetsText(packets: readonly Uint8Array[]): string {
  const counts = new Map<string, number>();
  for (const packet of packets) {
    const name = packetName(typeOf(packet));
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => (count === 1 ? name : `${count} × ${name}`)).join(', ');
}

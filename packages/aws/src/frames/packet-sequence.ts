import { Frame, type OutgoingPacket } from './frame.ts';
import { packed } from './packing.ts';

/**
 * The packets for a connection, in order. Connections with the same packets (the very same objects, which a fan-out
 * shares) share a sequence, so a thousand of them cost one encoding and one hash, and each a step in a tree.
 */
export class PacketSequence {
  readonly #before: PacketSequence | undefined;
  /** The last packet; undefined in the empty sequence. */
  readonly packet: OutgoingPacket | undefined;
  /** The continuation that most connections follow: found without a look into the map. */
  #lastNext: PacketSequence | undefined;
  #next: Map<Uint8Array, PacketSequence> | undefined;
  #frames: readonly Frame[] | undefined;

  /** Without arguments: the empty sequence. */
  constructor(before?: PacketSequence, packet?: OutgoingPacket) {
    this.#before = before;
    this.packet = packet;
  }

  /** This sequence with one more packet. */
  with(bytes: Uint8Array, mustArrive: boolean): PacketSequence {
    const last = this.#lastNext;
    if (endsWith(last, bytes, mustArrive)) return last;
    const known = this.#next?.get(bytes);
    if (endsWith(known, bytes, mustArrive)) {
      this.#lastNext = known;
      return known;
    }
    const next = new PacketSequence(this, { bytes, mustArrive });
    this.#lastNext = next;
    this.#next ??= new Map();
    this.#next.set(bytes, next);
    return next;
  }

  /** Frames of whole packets: each as many as are billed as one message, or one larger packet. */
  frames(): readonly Frame[] {
    this.#frames ??= packed(this.#packets()).map(Frame.of);
    return this.#frames;
  }

  #packets(): OutgoingPacket[] {
    const packets: OutgoingPacket[] = [];
    for (let each: PacketSequence | undefined = this; each !== undefined; each = each.#before) {
      if (each.packet !== undefined) packets.push(each.packet);
    }
    return packets.reverse();
  }
}

function endsWith(
  sequence: PacketSequence | undefined,
  bytes: Uint8Array,
  mustArrive: boolean,
): sequence is PacketSequence {
  return sequence?.packet?.bytes === bytes && sequence.packet.mustArrive === mustArrive;
}

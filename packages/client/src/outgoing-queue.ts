import { FRAME_BYTES_MAX } from './limits.ts';
import { byteAt, qosOf, typeOf } from './packet.ts';
import * as PacketType from './packet-type.ts';

const AGAIN: readonly number[] = [PacketType.PUBREL, PacketType.SUBSCRIBE, PacketType.UNSUBSCRIBE];

/** The packets that leave in one frame. An empty list is a fetch. */
export interface OutgoingFrame {
  readonly packets: readonly Uint8Array[];
}

/**
 * Packets that wait for a frame, in the library's order. PUBACK and PUBCOMP wait apart, because they may leave out of
 * turn: MQTT orders them among themselves only [MQTT-4.6.0-2].
 */
export class OutgoingQueue {
  #packets: Uint8Array[] = [];
  #acknowledgements: Uint8Array[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get packetCount(): number {
    return this.#packets.length + this.#acknowledgements.length;
  }

  get hasAcknowledgements(): boolean {
    return this.#acknowledgements.length > 0;
  }

  add(packet: Uint8Array): void {
    (isAcknowledgement(packet) ? this.#acknowledgements : this.#packets).push(packet);
    this.#bytes += packet.length;
  }

  /** Removes CONNECT, which came with the handshake. */
  dropFirst(): void {
    this.#bytes -= this.#packets.shift()?.length ?? 0;
  }

  /** Packets that the server did not take leave again, before all others. */
  giveBack(packets: readonly Uint8Array[]): void {
    this.#packets.unshift(...packets);
    this.#bytes += byteLength(packets);
  }

  /** Drops the acknowledgements of messages that the server sends again. */
  forgetAcknowledgements(): void {
    this.#acknowledgements = [];
    this.#packets = this.#packets.filter((packet) => typeOf(packet) !== PacketType.PUBREC);
    this.#bytes = byteLength(this.#packets);
  }

  /**
   * The next frame of packets, with the acknowledgements that wait in front; `undefined` if no packet may leave.
   * `holdPublish` holds back PUBLISH, and DISCONNECT, which must stay behind it.
   */
  takeFrame(holdPublish: boolean): OutgoingFrame | undefined {
    const mayLeave = (packet: Uint8Array): boolean => !(holdPublish && isHeldWithPublish(packet));
    if (!this.#packets.some(mayLeave)) return undefined;
    const acknowledgements = this.#takeAcknowledgements();
    const held: Uint8Array[] = [];
    const packets: Uint8Array[] = [];
    let room = FRAME_BYTES_MAX - byteLength(acknowledgements);
    let seen = 0;
    for (const packet of this.#packets) {
      if (mayLeave(packet)) {
        // A packet that does not fit holds back the packets behind it.
        if (packet.length > room) break;
        room -= packet.length;
        packets.push(packet);
      } else {
        held.push(packet);
      }
      seen += 1;
    }
    this.#packets = [...held, ...this.#packets.slice(seen)];
    this.#bytes -= byteLength(packets);
    return { packets: [...acknowledgements, ...packets] };
  }

  /** A frame of acknowledgements only, perhaps an empty one. */
  takeAcknowledgementFrame(): OutgoingFrame {
    return { packets: this.#takeAcknowledgements() };
  }

  #takeAcknowledgements(): Uint8Array[] {
    let room = FRAME_BYTES_MAX;
    const fitting = this.#acknowledgements.findIndex((packet) => {
      room -= packet.length;
      return room < 0;
    });
    const taken = this.#acknowledgements.splice(0, fitting < 0 ? this.#acknowledgements.length : fitting);
    this.#bytes -= byteLength(taken);
    return taken;
  }
}

function byteLength(packets: readonly Uint8Array[]): number {
  return packets.reduce((sum, packet) => sum + packet.length, 0);
}

/** Packets that may travel out of turn (3). */
function isAcknowledgement(packet: Uint8Array): boolean {
  const type = typeOf(packet);
  return type === PacketType.PUBACK || type === PacketType.PUBCOMP;
}

function isHeldWithPublish(packet: Uint8Array): boolean {
  const type = typeOf(packet);
  return type === PacketType.PUBLISH || type === PacketType.DISCONNECT;
}

/** A lone DISCONNECT without properties, and with no reason but the normal one. */
export function isPlainDisconnect({ packets }: OutgoingFrame): boolean {
  const [packet, second] = packets;
  if (packet === undefined || second !== undefined) return false;
  return typeOf(packet) === PacketType.DISCONNECT && packet.length < 5 && !packet[2] && !packet[3];
}

/** One QoS 0 PUBLISH and nothing else, as a client sends that publishes rarely (5). */
export function isLoneQos0({ packets }: OutgoingFrame): boolean {
  const [packet, second] = packets;
  return (
    packet !== undefined &&
    second === undefined &&
    typeOf(packet) === PacketType.PUBLISH &&
    qosOf(packet) === 0
  );
}

/** The packets of a frame of unknown fate that are sent again on a connection that resumes the session (13). */
export function repeated({ packets }: OutgoingFrame): readonly Uint8Array[] {
  return packets.filter((packet) => {
    const type = typeOf(packet);
    if (type !== PacketType.PUBLISH) return AGAIN.includes(type);
    // DUP [MQTT-3.3.1-1]
    packet[0] = byteAt(packet, 0) | 8;
    return qosOf(packet) > 0;
  });
}

export function frameHas({ packets }: OutgoingFrame, ...types: number[]): boolean {
  return packets.some((packet) => types.includes(typeOf(packet)));
}

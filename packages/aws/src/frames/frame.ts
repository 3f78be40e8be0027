import { KEPT_PACKET_ID_MAX } from '@apus/broker';
import type { PacketId, QoS } from '@apus/mqtt';
import { sha256Hex } from '../http/sha256.ts';
import { formatPart, formatPush } from './text-frame.ts';

/** The packet type of PUBLISH, in the upper half of a packet's first byte. */
const PUBLISH = 3;

/** For counting: whether an encoded packet is a PUBLISH. */
function isPublish([first = 0]: Uint8Array): boolean {
  return first >> 4 === PUBLISH;
}

/** Undefined: the packet is no PUBLISH. */
export function publishQosOf(packet: Uint8Array): QoS | undefined {
  const [first = 0] = packet;
  return isPublish(packet) ? (((first >> 1) & 3) as QoS) : undefined;
}

export function publishesIn(packets: readonly OutgoingPacket[]): number {
  return packets.filter(({ bytes }) => isPublish(bytes)).length;
}

/** All their bytes in one piece. */
export function bytesOf(packets: readonly OutgoingPacket[]): Uint8Array {
  const [only] = packets;
  if (packets.length === 1 && only !== undefined) return only.bytes;
  return Buffer.concat(packets.map(({ bytes }) => bytes));
}

/** A packet on its way to a connection. */
export interface OutgoingPacket {
  readonly bytes: Uint8Array;
  /** More than QoS 0: if it is lost, the connection is closed. */
  readonly mustArrive: boolean;
}

/** Bits of the first byte of a PUBLISH (section 3.3.1). */
const QOS_1 = 0x02;
const QOS_2 = 0x04;

function isKeptPublish(bytes: Uint8Array): boolean {
  const [first = 0] = bytes;
  if (!isPublish(bytes)) return false;
  return (first & QOS_2) !== 0 || ((first & QOS_1) !== 0 && packetIdOf(bytes) <= KEPT_PACKET_ID_MAX);
}

/** It stands behind the topic name (section 3.3.2). */
function packetIdOf(publish: Uint8Array): PacketId {
  let topicLengthAt = 1;
  while ((publish[topicLengthAt] ?? 0) >= 0x80) topicLengthAt += 1;
  topicLengthAt += 1;
  const packetIdAt = topicLengthAt + 2 + uint16At(publish, topicLengthAt);
  return uint16At(publish, packetIdAt);
}

function uint16At(bytes: Uint8Array, index: number): number {
  return ((bytes[index] ?? 0) << 8) | (bytes[index + 1] ?? 0);
}

/** A text for the gateway. Connections with the same packets share one, so that it is encoded and hashed once. */
export class Frame {
  readonly text: string;
  /** The text in UTF-8, one character for each byte, as it goes over the wire. */
  readonly bytes: string;
  readonly #packets: readonly OutgoingPacket[];
  #sha256: string | undefined;

  constructor(text: string, packets: readonly OutgoingPacket[] = []) {
    this.text = text;
    // Base64 has one byte for each character.
    this.bytes = Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1');
    this.#packets = packets;
  }

  static of(packets: readonly OutgoingPacket[]): Frame {
    return new Frame(formatPush(bytesOf(packets)), packets);
  }

  /** A part of a reply. It is never sent twice: the client counts the parts. */
  static partOf(packets: readonly OutgoingPacket[]): Frame {
    return new Frame(formatPart(bytesOf(packets)), packets);
  }

  /** Its packets, for another connection. */
  get outgoing(): readonly OutgoingPacket[] {
    return this.#packets;
  }

  /** Its messages that no queue holds. */
  get unkept(): readonly OutgoingPacket[] {
    return this.#packets.filter(({ bytes }) => isPublish(bytes) && !isKeptPublish(bytes));
  }

  /** MQTT packets in it. */
  get packets(): number {
    return this.#packets.length;
  }

  /** How many of them are a PUBLISH. */
  get publishes(): number {
    return publishesIn(this.#packets);
  }

  get mustArrive(): boolean {
    return this.#packets.some(({ mustArrive }) => mustArrive);
  }

  /**
   * It has a PUBLISH whose packet id the client frees with an acknowledgement that the store sees: at QoS 2, or at QoS
   * 1 in a session that is kept. If the answer to its post is lost, the client may have freed the id already. Sent
   * again on the same connection, the message would exceed the client's window [MQTT-3.3.4-9], or be another message
   * to it. On the next connection it is a repetition, as the store has all acknowledgements by then.
   */
  get mustComeOnce(): boolean {
    return this.#packets.some(({ bytes }) => isKeptPublish(bytes));
  }

  /** In hexadecimal. */
  get sha256(): string {
    this.#sha256 ??= sha256Hex(this.text);
    return this.#sha256;
  }

  /**
   * The packets that are sent again if it is unknown whether the frame arrived: not QoS 0, which must not come twice.
   * Undefined: none.
   */
  repeat(): Frame | undefined {
    const packets = this.#packets.filter(({ mustArrive }) => mustArrive);
    if (packets.length === this.#packets.length) return this;
    return packets.length === 0 ? undefined : Frame.of(packets);
  }
}

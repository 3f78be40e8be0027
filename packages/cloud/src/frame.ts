import { sha256Hex } from './sha256.ts';
import { formatPart, formatPush } from './text-frame.ts';

/** The packet type of PUBLISH, in the upper half of a packet's first byte. */
const PUBLISH = 3;

/** For counting: an encoded packet is a message, and no acknowledgement. */
function isPublish([first = 0]: Uint8Array): boolean {
  return first >> 4 === PUBLISH;
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
  /** It is more than QoS 0: to lose it is to lose the connection. */
  readonly mustArrive: boolean;
}

/** The bits of a packet's first byte that say PUBLISH, and its QoS (sections 2.1.2, 3.3.1). */
const TYPE_AND_QOS = 0xf6;
const PUBLISH_QOS_2 = 0x34;

/** A text for the gateway. Connections that are sent the same share one, so that it is encoded and hashed once. */
export class Frame {
  readonly text: string;
  /** The text in UTF-8, one character for each byte: what goes over the wire. */
  readonly bytes: string;
  readonly #packets: readonly OutgoingPacket[];
  #sha256: string | undefined;

  constructor(text: string, packets: readonly OutgoingPacket[] = []) {
    this.text = text;
    // Base64 has one byte for each character.
    this.bytes = Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1');
    this.#packets = packets;
  }

  /** A push. */
  static of(packets: readonly OutgoingPacket[]): Frame {
    return new Frame(formatPush(bytesOf(packets)), packets);
  }

  /** A part of a reply. It is not to be repeated: the client counts them. */
  static partOf(packets: readonly OutgoingPacket[]): Frame {
    return new Frame(formatPart(bytesOf(packets)), packets);
  }

  /** MQTT packets in it. */
  get packets(): number {
    return this.#packets.length;
  }

  /** Those of them that are a PUBLISH. */
  get publishes(): number {
    return publishesIn(this.#packets);
  }

  get mustArrive(): boolean {
    return this.#packets.some(({ mustArrive }) => mustArrive);
  }

  /**
   * It holds a PUBLISH at QoS 2. Its client may have done with that before an answer is missed, and have freed its
   * packet identifier: sent again on the same connection it would be another message. Sent on the next one it is a
   * repetition, as the client's acknowledgements until then are known there.
   */
  get mustComeOnce(): boolean {
    return this.#packets.some(({ bytes: [firstByte = 0] }) => (firstByte & TYPE_AND_QOS) === PUBLISH_QOS_2);
  }

  /** In hexadecimal. */
  get sha256(): string {
    this.#sha256 ??= sha256Hex(this.text);
    return this.#sha256;
  }

  /**
   * What of it is sent again when it is unknown whether it arrived: a QoS 0 packet must not come twice. Undefined when
   * nothing is.
   */
  repeat(): Frame | undefined {
    const packets = this.#packets.filter(({ mustArrive }) => mustArrive);
    if (packets.length === this.#packets.length) return this;
    return packets.length === 0 ? undefined : Frame.of(packets);
  }
}

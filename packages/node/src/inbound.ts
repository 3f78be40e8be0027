import { type Packet, PacketDecoder, type Violation } from '@apus/mqtt';

/**
 * A frame is decoded in pieces of this size, so that one full of tiny packets becomes a few thousand objects at a
 * time and not a few million.
 */
const PIECE_BYTES = 64 * 1024;

/** The input of a client that the broker has not yet taken: bytes in, packets out, one after another. */
export class Inbound {
  readonly #decoder: PacketDecoder;
  #pieces: Uint8Array[] = [];
  #packets: readonly (Packet | Violation)[] = [];
  #position = 0;
  #bytes = 0;

  constructor(maximumPacketSize: number, connectBytesMax = maximumPacketSize) {
    this.#decoder = new PacketDecoder({ maximumPacketSize, connectBytesMax });
  }

  /** The CONNECT is whole, and has been handed over. */
  get hasConnect(): boolean {
    return this.#decoder.protocolVersion !== undefined;
  }

  /** Bytes in memory: those that wait, and those of an incomplete packet. */
  get heldBytes(): number {
    return this.#bytes + this.#decoder.reservedBytes;
  }

  /** Bytes that wait, not counting those of the piece that is being handed over. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Packets and WebSocket messages may be cut anywhere [MQTT-6.0.0-2]. */
  push(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (bytes.length <= PIECE_BYTES) {
      this.#pieces.push(bytes);
      return;
    }
    for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
      this.#pieces.push(bytes.subarray(start, start + PIECE_BYTES));
    }
  }

  /** The next packet, or what the decoder found instead of one; undefined until more bytes come. */
  next(): Packet | Violation | undefined {
    for (;;) {
      const packet = this.#packets[this.#position];
      if (packet !== undefined) {
        this.#position += 1;
        return packet;
      }
      const piece = this.#pieces.shift();
      if (piece === undefined) return undefined;
      this.#bytes -= piece.length;
      this.#packets = this.#decoder.push(piece);
      this.#position = 0;
    }
  }

  clear(): void {
    this.#pieces = [];
    this.#packets = [];
    this.#position = 0;
    this.#bytes = 0;
  }
}

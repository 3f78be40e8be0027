import { type Packet, PacketDecoder, type ProtocolVersion, type Violation } from '@apus/mqtt';

/** The input of a client that the broker has not yet taken: bytes in, packets out, one after another. */
export class Inbound {
  readonly #decoder: PacketDecoder;
  /** Behind the bytes that the decoder has; made when the first wait. */
  #waiting: Uint8Array[] | undefined;
  #waitingBytes = 0;
  /** The decoder has read all that it has got. */
  #isRead = true;
  /** Bytes that the decoder has got and keeps, as the broker has not taken all of them. */
  #keptBytes = 0;

  /** @param protocolVersion of a client whose CONNECT was taken before. @default its CONNECT comes */
  constructor(
    maximumPacketSize: number,
    connectBytesMax = maximumPacketSize,
    protocolVersion?: ProtocolVersion,
  ) {
    const known = protocolVersion !== undefined && { protocolVersion };
    // [SEC-MEMORY-1]: a larger CONNECT is refused from its header.
    this.#decoder = new PacketDecoder({ maximumPacketSize, connectBytesMax, copies: true, ...known });
  }

  /** A copy of all bytes of which no packet has come. */
  get unfinished(): Uint8Array {
    const { unfinished } = this.#decoder;
    return this.#waiting === undefined ? unfinished : Buffer.concat([unfinished, ...this.#waiting]);
  }

  /** Bytes in memory: those that wait, and those of an incomplete packet. */
  get heldBytes(): number {
    return this.bytes + this.#decoder.reservedBytes;
  }

  /** Bytes that wait. */
  get bytes(): number {
    return this.#waitingBytes + this.#keptBytes;
  }

  /**
   * Packets and WebSocket messages may be cut anywhere [MQTT-6.0.0-2]. The bytes are read in their place: `keep` has to
   * be called before they are written to.
   */
  push(bytes: Uint8Array, start = 0, end = bytes.length): void {
    if (this.#isRead) {
      this.#decoder.feed(bytes, start, end);
      this.#isRead = false;
      return;
    }
    this.#waiting ??= [];
    this.#waiting.push(Buffer.from(bytes.subarray(start, end)));
    this.#waitingBytes += end - start;
  }

  /** The next packet, or what the decoder found instead of one; undefined until more bytes come. */
  next(): Packet | Violation | undefined {
    for (;;) {
      const packet = this.#decoder.next();
      if (packet !== undefined) return packet;
      this.#isRead = true;
      this.#keptBytes = 0;
      const piece = this.#waiting?.shift();
      if (piece === undefined) return undefined;
      this.#waitingBytes -= piece.length;
      this.push(piece);
      this.#keptBytes = piece.length;
    }
  }

  /** Copies the pushed bytes that have not been read. */
  keep(): void {
    if (this.#isRead || this.#keptBytes > 0) return;
    this.#keptBytes = this.#decoder.keepFed();
  }

  clear(): void {
    this.#waiting = undefined;
    this.#waitingBytes = 0;
    this.#keptBytes = 0;
    this.#decoder.end();
  }
}

import { decodeRange } from './decode-packet.ts';
import { packetTypeOf, type Role } from './fixed-header.ts';
import { Framer } from './framer.ts';
import type { Packet, ProtocolVersion } from './packets.ts';
import { ReasonCode } from './reason-codes.ts';
import { Violation } from './violation.ts';

export interface DecoderOptions {
  /** The largest packet taken, in bytes, fixed header included; a larger one is refused from its header alone. */
  maximumPacketSize: number;
  /**
   * The largest CONNECT that a server takes, if it is smaller: nothing is known of the sender of a CONNECT before it is
   * read.
   * @default `maximumPacketSize`
   */
  connectBytesMax?: number;
  /** The side that reads. @default 'server' */
  role?: Role;
  /**
   * The version of a connection whose CONNECT was taken before, or, for a client, the one it speaks.
   * @default a server learns it from CONNECT; a client reads 5
   */
  protocolVersion?: ProtocolVersion;
  /**
   * Binary fields are copies, so that the bytes that were fed may be written to when `next` has been called.
   * @default false: they are views
   */
  copies?: boolean;
}

/**
 * Decodes the packets of one connection from bytes in any pieces.
 *
 * Unless `copies` is set, binary fields are views of the bytes pushed and stay valid as long as the caller does not
 * write to those: copy a payload that is kept for long, or it keeps the whole piece alive. After a violation nothing
 * more is decoded. Nothing that a peer sends makes `push` throw.
 */
export class PacketDecoder {
  readonly #framer: Framer;
  readonly #maximumPacketSize: number;
  readonly #role: Role;
  readonly #copies: boolean;
  #protocolVersion: ProtocolVersion | undefined;
  #failed = false;

  constructor(options: DecoderOptions) {
    this.#role = options.role ?? 'server';
    this.#copies = options.copies ?? false;
    this.#protocolVersion = options.protocolVersion ?? (this.#role === 'client' ? 5 : undefined);
    const { maximumPacketSize, connectBytesMax = maximumPacketSize } = options;
    this.#maximumPacketSize = maximumPacketSize;
    const isBeforeConnect = this.#protocolVersion === undefined;
    this.#framer = new Framer({
      maximumPacketSize: isBeforeConnect ? Math.min(connectBytesMax, maximumPacketSize) : maximumPacketSize,
      receiver: this.#role,
      ...(this.#protocolVersion !== undefined && { protocolVersion: this.#protocolVersion }),
    });
  }

  /** Known once CONNECT was decoded. */
  get protocolVersion(): ProtocolVersion | undefined {
    return this.#protocolVersion;
  }

  /** The bytes pushed last ended within a packet. */
  get isWithinPacket(): boolean {
    return this.#framer.heldBytes > 0;
  }

  /** Bytes that are reserved for a packet whose end has not come. */
  get reservedBytes(): number {
    return this.#framer.reservedBytes;
  }

  /** A copy of the bytes of which no packet has come: another decoder that is fed them goes on in this one's place. */
  get unfinished(): Uint8Array {
    return this.#framer.unfinished;
  }

  /** The packets that these bytes complete; a violation is the last element. */
  push(bytes: Uint8Array): readonly (Packet | Violation)[] {
    const results: (Packet | Violation)[] = [];
    this.feed(bytes);
    for (let packet = this.next(); packet !== undefined; packet = this.next()) results.push(packet);
    return results;
  }

  /** Takes the next bytes; call `next` until it returns `undefined` before feeding again. */
  feed(bytes: Uint8Array, start = 0, end = bytes.length): void {
    if (!this.#failed) this.#framer.push(bytes, start, end);
  }

  /** Copies the bytes that were fed and have not been read, since their owner writes to them. Returns how many. */
  keepFed(): number {
    return this.#framer.keepInput();
  }

  /** Nothing more is decoded, and nothing is kept. */
  end(): void {
    this.#failed = true;
    this.#framer.clear();
  }

  /** The next packet; or a violation, after which nothing is decoded; or `undefined` until more bytes come. */
  next(): Packet | Violation | undefined {
    if (this.#failed) return undefined;
    const found = this.#framer.cut();
    if (found === undefined) return undefined;
    const result = found === true ? this.#decode() : found;
    if (result instanceof Violation) this.#failed = true;
    return result;
  }

  #decode(): Packet | Violation {
    const { packet, packetStart, packetEnd } = this.#framer;
    const version = this.#protocolVersion;
    const isConnect = packetTypeOf(packet[packetStart] ?? 0) === 'connect';
    if (version !== undefined && !isConnect)
      return decodeRange(packet, packetStart, packetEnd, version, this.#role, this.#copies);
    // [MQTT-3.1.0-1]
    if (!isConnect) return new Violation(ReasonCode.ProtocolError, 'The first packet is a CONNECT');
    // [MQTT-3.1.0-2] [MQTT3-3.1.0-2]
    if (version !== undefined)
      return new Violation(ReasonCode.ProtocolError, 'A client sends one CONNECT only');
    const connect = decodeRange(packet, packetStart, packetEnd, 5, this.#role, this.#copies);
    if (!(connect instanceof Violation) && connect.type === 'connect') {
      this.#protocolVersion = connect.protocolVersion;
      this.#framer.connected(connect.protocolVersion, this.#maximumPacketSize);
    }
    return connect;
  }
}

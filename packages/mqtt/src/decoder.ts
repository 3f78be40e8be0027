import { decodeFramed } from './decode-packet.ts';
import { packetTypeOf, type Role } from './fixed-header.ts';
import { Framer } from './framer.ts';
import type { Packet, ProtocolVersion } from './packets.ts';
import { ReasonCode } from './reason-codes.ts';
import { Violation } from './violation.ts';

export interface DecoderOptions {
  /** The largest packet taken, in bytes, fixed header included; a larger one is refused from its header alone. */
  maximumPacketSize: number;
  /**
   * The largest CONNECT that a server takes, where that is smaller: it is read before anything is known of its sender.
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
}

/**
 * Decodes the packets of one connection from bytes in any pieces.
 *
 * Binary fields are views of the bytes pushed and stay valid as long as the caller does not write to those:
 * copy a payload that is kept for long, or it keeps the whole piece alive. After a violation nothing more is
 * decoded. Nothing that a peer sends makes `push` throw.
 */
export class PacketDecoder {
  readonly #framer: Framer;
  readonly #maximumPacketSize: number;
  readonly #role: Role;
  #protocolVersion: ProtocolVersion | undefined;
  #failed = false;

  constructor(options: DecoderOptions) {
    this.#role = options.role ?? 'server';
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

  /** The packets that these bytes complete; a violation is the last element. */
  push(bytes: Uint8Array): readonly (Packet | Violation)[] {
    if (this.#failed) return [];
    const results: (Packet | Violation)[] = [];
    this.#framer.push(bytes);
    for (;;) {
      const packet = this.#framer.next();
      if (packet === undefined) return results;
      const result = packet instanceof Violation ? packet : this.#decode(packet);
      results.push(result);
      if (result instanceof Violation) {
        this.#failed = true;
        return results;
      }
    }
  }

  #decode(packet: Uint8Array): Packet | Violation {
    const version = this.#protocolVersion;
    const isConnect = packetTypeOf(packet[0] ?? 0) === 'connect';
    if (version !== undefined && !isConnect) return decodeFramed(packet, version, this.#role);
    // [MQTT-3.1.0-1]
    if (!isConnect) return new Violation(ReasonCode.ProtocolError, 'The first packet is a CONNECT');
    // [MQTT-3.1.0-2] [MQTT3-3.1.0-2]
    if (version !== undefined)
      return new Violation(ReasonCode.ProtocolError, 'A client sends one CONNECT only');
    const connect = decodeFramed(packet, 5, this.#role);
    if (!(connect instanceof Violation) && connect.type === 'connect') {
      this.#protocolVersion = connect.protocolVersion;
      this.#framer.connected(connect.protocolVersion, this.#maximumPacketSize);
    }
    return connect;
  }
}

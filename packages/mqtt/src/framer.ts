import { firstByteViolation, type Role } from './fixed-header.ts';
import type { ProtocolVersion } from './packets.ts';
import { ReasonCode } from './reason-codes.ts';
import { Violation } from './violation.ts';

/** A fixed header is the first byte and at most four bytes of Remaining Length. */
const FIXED_HEADER_BYTES_MAX = 5;
const HELD_BYTES_MIN = 64;
const CONNECT = 0x10;
/** Protocol Name and Protocol Version, with which the variable header of CONNECT begins (3.1.2). */
const MQTT_5 = [0, 4, 0x4d, 0x51, 0x54, 0x54, 5];
const EMPTY = new Uint8Array(0);

export interface FramerOptions {
  /** The largest packet taken, fixed header included. */
  maximumPacketSize: number;
  receiver: Role;
  /** The peer's protocol version, once it is known: MQTT 3.1 has other flags. */
  protocolVersion?: ProtocolVersion;
}

const NOTHING = new Uint8Array();

/**
 * Cuts a stream of bytes, arriving in any pieces, into whole packets.
 *
 * A packet that arrives in one piece is a view of that piece and nothing is copied. A packet in several pieces is
 * gathered in a buffer that doubles as it fills: the work stays linear however small the pieces are, and for a peer
 * that announces much and sends little, never more than twice the sent bytes are reserved.
 */
export class Framer {
  #options: FramerOptions;
  #input: Uint8Array = EMPTY;
  #position = 0;
  #end = 0;
  #packet: Uint8Array = EMPTY;
  #packetStart = 0;
  #packetEnd = 0;
  /** The beginning of a packet whose end has not come; `#heldLength` bytes of it are filled. */
  #held: Uint8Array = EMPTY;
  #heldLength = 0;
  /** Its whole length, 0 until its header is known. */
  #heldTarget = 0;

  constructor(options: FramerOptions) {
    this.#options = options;
  }

  /** Facts of a CONNECT that has been taken. */
  connected(protocolVersion: ProtocolVersion, maximumPacketSize: number): void {
    this.#options = { maximumPacketSize, receiver: this.#options.receiver, protocolVersion };
  }

  /** Bytes of a packet whose end has not come. */
  get heldBytes(): number {
    return this.#heldLength;
  }

  /** Bytes that are reserved for it. */
  get reservedBytes(): number {
    return this.#held.length;
  }

  /** The bytes in which the packet that `cut` has found stands, from `packetStart` to `packetEnd`. */
  get packet(): Uint8Array {
    return this.#packet;
  }

  get packetStart(): number {
    return this.#packetStart;
  }

  get packetEnd(): number {
    return this.#packetEnd;
  }

  /** Takes the next bytes; call `next` or `cut` until it returns `undefined` before pushing again. */
  push(bytes: Uint8Array, start = 0, end = bytes.length): void {
    this.#input = bytes;
    this.#position = start;
    this.#end = end;
  }

  /** A copy of the bytes of which no packet has come. */
  get unfinished(): Uint8Array {
    const input = this.#input.subarray(this.#position, this.#end);
    if (this.#heldLength + input.length === 0) return NOTHING;
    return Buffer.concat([this.#held.subarray(0, this.#heldLength), input]);
  }

  /** Copies the input that has not been read, since its owner writes to it. Returns how many bytes. */
  keepInput(): number {
    this.push(Buffer.from(this.#input.subarray(this.#position, this.#end)));
    return this.#end;
  }

  /** Forgets everything. */
  clear(): void {
    this.#letGo();
    this.#held = EMPTY;
    this.#heldLength = 0;
    this.#heldTarget = 0;
  }

  /** The next whole packet, or a violation, or `undefined` until more bytes come. */
  next(): Uint8Array | Violation | undefined {
    const found = this.cut();
    if (found !== true) return found;
    return this.#packetStart === 0 && this.#packetEnd === this.#packet.length
      ? this.#packet
      : this.#packet.subarray(this.#packetStart, this.#packetEnd);
  }

  /** The same without a view: true when there is a packet. */
  cut(): true | Violation | undefined {
    if (this.#heldLength > 0) return this.#fill();
    if (this.#position >= this.#end) return this.#letGo();
    const length = packetLength(this.#input, this.#position, this.#end, this.#options);
    if (typeof length !== 'number') return length ?? this.#hold(0);
    const end = this.#position + length;
    if (end > this.#end) return this.#hold(length);
    this.#packet = this.#input;
    this.#packetStart = this.#position;
    this.#packetEnd = end;
    this.#position = end;
    return true;
  }

  /** All has been read, and nothing of it is kept alive. */
  #letGo(): undefined {
    this.#input = EMPTY;
    this.#packet = EMPTY;
    this.#position = 0;
    this.#end = 0;
    return undefined;
  }

  #hold(length: number): undefined {
    const rest = this.#input.subarray(this.#position, this.#end);
    this.#position = this.#end;
    this.#held = withRoom(rest, rest.length, rest.length, length);
    this.#heldLength = rest.length;
    this.#heldTarget = length;
    return undefined;
  }

  #fill(): true | Violation | undefined {
    while (this.#position < this.#end) {
      // Until the header is whole its end is unknown, and nothing behind it may be swallowed: one byte at a time.
      const wanted = this.#heldTarget === 0 ? 1 : this.#heldTarget - this.#heldLength;
      this.#take(Math.min(wanted, this.#end - this.#position));
      if (this.#heldTarget === 0) {
        const length = packetLength(this.#held, 0, this.#heldLength, this.#options);
        if (length instanceof Violation) return length;
        this.#heldTarget = length ?? 0;
      }
      if (this.#heldLength === this.#heldTarget) return this.#release();
    }
    return undefined;
  }

  #take(count: number): void {
    const length = this.#heldLength + count;
    if (length > this.#held.length) {
      this.#held = withRoom(this.#held, this.#heldLength, length, this.#heldTarget);
    }
    this.#held.set(this.#input.subarray(this.#position, this.#position + count), this.#heldLength);
    this.#heldLength = length;
    this.#position += count;
  }

  #release(): true {
    this.#packet = this.#held;
    this.#packetStart = 0;
    this.#packetEnd = this.#heldLength;
    this.#held = EMPTY;
    this.#heldLength = 0;
    this.#heldTarget = 0;
    return true;
  }
}

/** A copy with room for twice `needed` bytes, but never past the packet's own length where that is known. */
function withRoom(bytes: Uint8Array, filled: number, needed: number, packetBytes: number): Uint8Array {
  const room = Math.max(HELD_BYTES_MIN, needed * 2);
  const copy = Buffer.allocUnsafeSlow(packetBytes > 0 ? Math.min(room, packetBytes) : room);
  copy.set(bytes.subarray(0, filled));
  return copy;
}

/**
 * The length of the packet that begins at `start`, fixed header included; `undefined` while the bytes up to
 * `end` do not hold the whole fixed header.
 */
export function packetLength(
  bytes: Uint8Array,
  start: number,
  end: number,
  options: FramerOptions,
): number | Violation | undefined {
  const firstByte = bytes[start];
  if (firstByte === undefined || start >= end) return undefined;
  const violation = firstByteViolation(firstByte, options.receiver, options.protocolVersion);
  if (violation !== undefined) return violation;
  let remaining = 0;
  for (let index = 1; index < FIXED_HEADER_BYTES_MAX; index += 1) {
    const byte = start + index < end ? bytes[start + index] : undefined;
    if (byte === undefined) return undefined;
    remaining += (byte & 0x7f) * 0x80 ** (index - 1);
    if (byte >= 0x80) continue;
    if (byte === 0 && index > 1 && options.protocolVersion === 5) return overlong();
    const length = 1 + index + remaining;
    if (length <= options.maximumPacketSize) return length;
    const isConnect5 = firstByte === CONNECT && isMqtt5(bytes, start + index + 1, end);
    return tooLarge(length, options.maximumPacketSize, isConnect5 ? 5 : undefined);
  }
  return new Violation(ReasonCode.MalformedPacket, 'The Remaining Length takes at most four bytes');
}

/** MQTT 5.0 allows only the shortest form [MQTT-1.5.5-1]; for older clients, and in CONNECT, others are read too. */
function overlong(): Violation {
  return new Violation(
    ReasonCode.MalformedPacket,
    'The Remaining Length takes the fewest bytes that hold it',
  );
}

/**
 * [MQTT-3.2.2-15]: known from the header alone, so that nothing of such a packet is ever kept. A CONNECT is answered
 * where its first bytes say that it is MQTT 5.0's; MQTT 3.1.1 has no return code for it.
 */
function tooLarge(
  length: number,
  maximumPacketSize: number,
  answerAs: ProtocolVersion | undefined,
): Violation {
  const reason = `A packet has at most ${maximumPacketSize} bytes, not ${length}`;
  return new Violation(ReasonCode.PacketTooLarge, reason, answerAs);
}

function isMqtt5(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < MQTT_5.length) return false;
  return MQTT_5.every((byte, index) => bytes[start + index] === byte);
}

/** Where the variable header begins in a whole packet. */
export function fixedHeaderLength(packet: Uint8Array, start = 0): number {
  let index = 1;
  while (index < FIXED_HEADER_BYTES_MAX && (packet[start + index] ?? 0) >= 0x80) index += 1;
  return index + 1;
}

import type { ProtocolVersion } from './packets.ts';
import { toConnackReturnCode } from './reason-code-tables.ts';
import { ReasonCode } from './reason-codes.ts';
import { isUtf8 } from './utf8.ts';
import { Violation } from './violation.ts';

const EMPTY = new Uint8Array(0);

/** A copy this small is quicker byte by byte: a view is an object too. */
const COPIED_BY_BYTE_MAX = 64;

/**
 * Reads MQTT's data types (section 1.5) out of one packet, strictly.
 *
 * The first failure stays: it moves the reader to the end and every later read returns an empty value, so the
 * code that reads a packet is a flat list of fields and asks for `violation` once, when it is through.
 */
export class PacketReader {
  readonly #bytes: Buffer;
  #position: number;
  readonly #end: number;
  readonly #copies: boolean;
  #violation: Violation | undefined;
  /** The version that a CONNECT names, once it is read: its refusal is a CONNACK in that version. */
  connectVersion: ProtocolVersion | undefined;

  /** @param copies whether binary fields are copies instead of views */
  constructor(bytes: Uint8Array, start: number, end = bytes.length, copies = false) {
    this.#bytes = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#position = start;
    this.#end = end;
    this.#copies = copies;
  }

  get violation(): Violation | undefined {
    return this.#violation;
  }

  get position(): number {
    return this.#position;
  }

  /** Bytes left to read. */
  get remaining(): number {
    return this.#end - this.#position;
  }

  fail(reasonCode: number, reason: string): void {
    this.#violation ??= new Violation(reasonCode, reason, this.#answerAs(reasonCode));
    this.#position = this.#end;
  }

  /** MQTT 3.1.1 has few return codes; without one it closes and says nothing [MQTT3-3.1.4-1] [MQTT3-3.2.2-6]. */
  #answerAs(reasonCode: number): ProtocolVersion | undefined {
    const isSayable = this.connectVersion === 5 || toConnackReturnCode(reasonCode) !== undefined;
    return isSayable ? this.connectVersion : undefined;
  }

  malformed(reason: string): void {
    this.fail(ReasonCode.MalformedPacket, reason);
  }

  /** Nothing may follow the last field of a packet. */
  expectEnd(): void {
    if (this.#position < this.#end) this.malformed(`${this.remaining} bytes follow the end of the packet`);
  }

  uint8(field: string): number {
    if (!this.#has(1, field)) return 0;
    const value = this.#bytes[this.#position] ?? 0;
    this.#position += 1;
    return value;
  }

  uint16(field: string): number {
    if (!this.#has(2, field)) return 0;
    const value = this.#bytes.readUInt16BE(this.#position);
    this.#position += 2;
    return value;
  }

  uint32(field: string): number {
    if (!this.#has(4, field)) return 0;
    const value = this.#bytes.readUInt32BE(this.#position);
    this.#position += 4;
    return value;
  }

  variableByteInteger(field: string): number {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.uint8(field);
      value += (byte & 0x7f) * 2 ** shift;
      if (byte >= 0x80) continue;
      // [MQTT-1.5.5-1]
      if (byte === 0 && shift > 0) this.malformed(`${field} is not encoded in the fewest bytes`);
      return value;
    }
    this.malformed(`${field} takes more than four bytes`);
    return 0;
  }

  /** A view of the packet's bytes, or a copy. */
  binary(field: string): Uint8Array {
    const length = this.uint16(field);
    if (!this.#has(length, field)) return EMPTY;
    return this.#take(length);
  }

  /** Everything up to the end, as a view of the packet's bytes, or a copy. */
  rest(): Uint8Array {
    return this.#take(this.remaining);
  }

  utf8String(field: string): string {
    const length = this.uint16(field);
    if (!this.#has(length, field)) return '';
    const start = this.#position;
    const end = start + length;
    this.#position = end;
    for (let index = start; index < end; index += 1) {
      const byte = this.#bytes[index] ?? 0;
      if (byte === 0) return this.#reject(`${field} contains U+0000`); // [MQTT-1.5.4-2]
      if (byte >= 0x80) return this.#beyondAscii(start, end, field);
    }
    return this.#bytes.toString('latin1', start, end);
  }

  #beyondAscii(start: number, end: number, field: string): string {
    const bytes = this.#bytes.subarray(start, end);
    // In UTF-8 a zero byte is always U+0000.
    if (bytes.includes(0)) return this.#reject(`${field} contains U+0000`); // [MQTT-1.5.4-2]
    if (!isUtf8(bytes)) return this.#reject(`${field} is not well-formed UTF-8`); // [MQTT-1.5.4-1]
    // Unlike a TextDecoder's, this decoder keeps U+FEFF, even at the beginning [MQTT-1.5.4-3].
    return bytes.toString('utf8');
  }

  #reject(reason: string): string {
    this.malformed(reason);
    return '';
  }

  #take(length: number): Uint8Array {
    const start = this.#position;
    this.#position += length;
    return this.#copies ? copyOf(this.#bytes, start, length) : this.#bytes.subarray(start, this.#position);
  }

  #has(length: number, field: string): boolean {
    if (this.#violation !== undefined) return false;
    if (this.#position + length <= this.#end) return true;
    this.malformed(`The packet ends inside ${field}`);
    return false;
  }
}

/** In memory of its own: a kept copy keeps no other bytes alive. */
function copyOf(bytes: Uint8Array, start: number, length: number): Uint8Array {
  if (length > COPIED_BY_BYTE_MAX) return new Uint8Array(bytes.subarray(start, start + length));
  const copy = new Uint8Array(length);
  for (let index = 0; index < length; index += 1) copy[index] = bytes[start + index] ?? 0;
  return copy;
}

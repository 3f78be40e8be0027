/** A part of a packet: its name in the specification, its meaning, and the place of its bytes. */
export interface PacketField {
  readonly name: string;
  readonly value: string;
  /** From the packet's first byte. */
  readonly offset: number;
  readonly length: number;
  /** The nesting level: 0 for fields of the packet, 1 for properties and entries. */
  readonly depth: number;
}

/** Thrown when the packet ends too early; `inspectPacket` shows it as a field. */
export class PacketEnds extends Error {
  override readonly name = 'PacketEnds';
}

const decoder = new TextDecoder();

/** Reads a packet from front to back and notes each part that it reads. */
export class FieldReader {
  readonly fields: PacketField[] = [];
  /** For the summary alone: properties and payload are passed over, and no field is noted. */
  readonly isBrief: boolean;
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array, isBrief: boolean) {
    this.#bytes = bytes;
    this.isBrief = isBrief;
  }

  get at(): number {
    return this.#at;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  note(name: string, value: string, offset: number, depth = 0): void {
    if (!this.isBrief) this.fields.push({ name, value, offset, length: this.#at - offset, depth });
  }

  byte(): number {
    return this.#take(1)[0] ?? 0;
  }

  uint16(): number {
    const [high = 0, low = 0] = this.#take(2);
    return high * 256 + low;
  }

  uint32(): number {
    return this.uint16() * 65_536 + this.uint16();
  }

  variableByteInteger(): number {
    let value = 0;
    for (let scale = 1; scale <= 128 ** 3; scale *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if ((byte & 0x80) === 0) return value;
    }
    throw new PacketEnds('a length has at most four bytes');
  }

  binary(): Uint8Array {
    return this.#take(this.uint16());
  }

  text(): string {
    return decoder.decode(this.binary());
  }

  rest(): Uint8Array {
    return this.#take(this.left);
  }

  skip(length: number): void {
    this.#take(length);
  }

  #take(length: number): Uint8Array {
    if (length > this.left) throw new PacketEnds(`${length} bytes were to follow, ${this.left} do`);
    const bytes = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return bytes;
  }
}

/** Binary data for people: as text if it is text, otherwise hexadecimal. */
export function shownBinary(bytes: Uint8Array): string {
  const text = decoder.decode(bytes.subarray(0, 200));
  const isText = ![...text].some((character) => character === '\uFFFD' || character < ' ');
  if (isText) return JSON.stringify(text) + (bytes.length > 200 ? ' …' : '');
  const hex = Array.from(bytes.subarray(0, 32), (byte) => byte.toString(16).padStart(2, '0')).join(' ');
  return hex + (bytes.length > 32 ? ' …' : '');
}

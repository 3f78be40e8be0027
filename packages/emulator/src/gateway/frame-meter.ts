/** Opcodes from 8 up are control frames: at most 125 bytes, and no part of a message. */
const FIRST_CONTROL_OPCODE = 8;
const FINAL = 0x80;
/** Bytes that a frame takes beside its own while `ws` gathers its message. */
const FRAGMENT_OVERHEAD_BYTES = 128;

/**
 * Reads the lengths of a client's frames from the bytes on the wire, in any pieces. `ws` passes on whole messages and
 * can limit those, but the quota is for a single frame: a message of 128 KB is valid in four frames and invalid in one.
 * A frame is checked by its header, before its payload has arrived.
 */
export class FrameMeter {
  readonly #frameBytesMax: number;
  readonly #onTooLarge: () => void;
  readonly #header: number[] = [];
  #payloadLeft = 0;
  #isControl = false;
  #isFinal = false;
  #heldBytes = 0;

  constructor(frameBytesMax: number, onTooLarge: () => void) {
    this.#frameBytesMax = frameBytesMax;
    this.#onTooLarge = onTooLarge;
  }

  /** The part of a message whose end has not come. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#payloadLeft > 0) {
        const skipped = Math.min(this.#payloadLeft, chunk.length - at);
        this.#payloadLeft -= skipped;
        at += skipped;
        if (!this.#isControl) this.#heldBytes += skipped;
        this.#finish();
      } else {
        this.#header.push(chunk[at] ?? 0);
        at += 1;
        if (this.#header.length === headerLength(this.#header)) this.#begin();
      }
    }
  }

  #begin(): void {
    const length = payloadLength(this.#header);
    const first = this.#header[0] ?? 0;
    this.#isControl = (first & 0x0f) >= FIRST_CONTROL_OPCODE;
    this.#isFinal = (first & FINAL) !== 0;
    this.#header.length = 0;
    this.#payloadLeft = length;
    if (!this.#isControl) this.#heldBytes += FRAGMENT_OVERHEAD_BYTES;
    if (!this.#isControl && length > this.#frameBytesMax) this.#onTooLarge();
    this.#finish();
  }

  #finish(): void {
    if (this.#payloadLeft === 0 && this.#isFinal && !this.#isControl) this.#heldBytes = 0;
  }
}

/** Two bytes, the extended length that the second announces, and the mask. */
function headerLength(header: readonly number[]): number {
  const second = header[1];
  if (second === undefined) return Number.POSITIVE_INFINITY;
  const lengthCode = second & 0x7f;
  const extended = lengthCode === 127 ? 8 : lengthCode === 126 ? 2 : 0;
  const mask = (second & 0x80) === 0 ? 0 : 4;
  return 2 + extended + mask;
}

function payloadLength(header: readonly number[]): number {
  const lengthCode = (header[1] ?? 0) & 0x7f;
  if (lengthCode < 126) return lengthCode;
  const extended = header.slice(2, lengthCode === 126 ? 4 : 10);
  return extended.reduce((length, byte) => length * 256 + byte, 0);
}

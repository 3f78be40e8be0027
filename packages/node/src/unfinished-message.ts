/** Opcodes from 8 up are control frames, and no part of a message (RFC 6455 section 5.5). */
const FIRST_CONTROL_OPCODE = 8;
const FINAL = 0x80;
const MASKED = 0x80;
const MASK_BYTES = 4;

/** Memory that a piece takes beside its bytes while `ws` gathers it: a buffer, and its place in a list. */
const CHUNK_OVERHEAD_BYTES = 512;
const FRAGMENT_OVERHEAD_BYTES = 128;

/**
 * Counts what `ws` gathers of a client's message until its end has come, from the bytes on the wire, in any pieces:
 * `ws` itself says nothing of a message before it is whole.
 */
export class UnfinishedMessage {
  #payloadBytes = 0;
  #fragments = 0;
  #weight = 0;
  /** A fragment came that is not the last of its message. */
  #isFragmented = false;
  // The frame that is being read.
  #headerBytes = 0;
  #lengthEnd = 2;
  #headerEnd = 2;
  #first = 0;
  #length = 0;
  #payloadLeft = 0;

  /** Bytes of the message itself. */
  get payloadBytes(): number {
    return this.#payloadBytes;
  }

  /** Bytes of memory that it takes, about. */
  get weight(): number {
    return this.#weight;
  }

  push(chunk: Uint8Array): void {
    let end = -1;
    for (let at = 0; at < chunk.length; ) {
      if (this.#payloadLeft > 0) at += this.#skip(chunk.length - at);
      else this.#readHeader(chunk[at++] ?? 0);
      if (this.#headerBytes > 0 || this.#payloadLeft > 0 || this.#isFragmented) continue;
      end = at;
      this.#payloadBytes = 0;
      this.#fragments = 0;
    }
    this.#weigh(chunk.length, end);
  }

  /** `end`: where a message ended in the chunk, and none has begun before; -1 where none ended. */
  #weigh(chunkBytes: number, end: number): void {
    const before = end < 0 ? this.#weight : 0;
    const bytes = end < 0 ? chunkBytes : chunkBytes - end;
    const overhead = CHUNK_OVERHEAD_BYTES + this.#fragments * FRAGMENT_OVERHEAD_BYTES;
    this.#weight = bytes === 0 ? 0 : before + bytes + overhead;
    this.#fragments = 0;
  }

  #skip(available: number): number {
    const skipped = Math.min(this.#payloadLeft, available);
    this.#payloadLeft -= skipped;
    this.#payloadBytes += skipped;
    return skipped;
  }

  #readHeader(byte: number): void {
    const index = this.#headerBytes;
    this.#headerBytes += 1;
    if (index === 0) this.#first = byte;
    else if (index === 1) this.#announce(byte);
    else if (index < this.#lengthEnd) this.#length = this.#length * 256 + byte;
    if (index > 0 && this.#headerBytes === this.#headerEnd) this.#begin();
  }

  /** The second byte says how many follow of the length, and whether a mask does. */
  #announce(second: number): void {
    const lengthCode = second & 0x7f;
    const extended = lengthCode === 127 ? 8 : lengthCode === 126 ? 2 : 0;
    this.#length = extended > 0 ? 0 : lengthCode;
    this.#lengthEnd = 2 + extended;
    this.#headerEnd = this.#lengthEnd + ((second & MASKED) === 0 ? 0 : MASK_BYTES);
  }

  #begin(): void {
    this.#headerBytes = 0;
    this.#payloadLeft = this.#length;
    if ((this.#first & 0x0f) >= FIRST_CONTROL_OPCODE) return;
    this.#isFragmented = (this.#first & FINAL) === 0;
    this.#fragments += 1;
  }
}

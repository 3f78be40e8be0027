import { FrameViolation } from './frame-violation.ts';
import {
  CONTROL_BYTES_MAX,
  type ControlOpcode,
  FINAL,
  LENGTH_16_BIT,
  LENGTH_64_BIT,
  MASK_BYTES,
  MASKED,
  OPCODE_BITS,
  Opcode,
  RESERVED_BITS,
} from './frames.ts';
import { unmask } from './unmask.ts';

const PROTOCOL_ERROR = 1002;
const UNSUPPORTED_DATA = 1003;
const MESSAGE_TOO_BIG = 1009;

const EMPTY = new Uint8Array(0);

/** Handles the content of one client's frames. */
export interface FrameHandler {
  /**
   * Bytes of binary messages as they arrive: messages and fragments are not put together, since packets may be cut
   * anywhere [MQTT-6.0.0-2]. `bytes` is the pushed chunk, and may be overwritten after the call.
   */
  data(bytes: Uint8Array, start: number, end: number): void;
  /** `payload` may be overwritten after the call. */
  control(opcode: ControlOpcode, payload: Uint8Array): void;
  /** Nothing is read after it. */
  violated(violation: FrameViolation): void;
}

/**
 * Reads a client's WebSocket frames from bytes in any pieces (RFC 6455 section 5), without extensions. It hands the
 * payload of a message over as it arrives and never keeps it: of an incomplete frame it keeps at most a header, or the
 * payload of a control frame.
 */
export class FrameReader {
  readonly #messageBytesMax: number;
  /** An incomplete header. */
  #partial: number[] | undefined;
  // The frame that is being read.
  #opcode = 0;
  #mask = 0;
  #length = 0;
  #left = 0;
  /** The payload of a control frame that arrives in pieces. */
  #control: Uint8Array | undefined;
  /** The last fragment of the present message has not come. */
  #isFragmented = false;
  #messageBytes = 0;
  #hasFailed = false;

  /**
   * @param messageBytesMax all fragments of a message together. A larger message is refused at the header that exceeds
   * it
   */
  constructor(messageBytesMax: number) {
    this.#messageBytesMax = messageBytesMax;
  }

  /** Bytes of an incomplete frame that are kept. */
  get heldBytes(): number {
    return (this.#partial?.length ?? 0) + (this.#control?.length ?? 0);
  }

  /** Reads all of `chunk`, and unmasks it in place. */
  push(chunk: Uint8Array, length: number, handler: FrameHandler): void {
    let at = 0;
    while (at < length && !this.#hasFailed) {
      at =
        this.#left > 0
          ? this.#readPayload(chunk, at, length, handler)
          : this.#readHeader(chunk, at, length, handler);
    }
  }

  #readHeader(chunk: Uint8Array, at: number, length: number, handler: FrameHandler): number {
    if (this.#partial === undefined) {
      const end = at + (at + 1 < length ? headerBytes(chunk[at + 1] ?? 0) : Number.POSITIVE_INFINITY);
      if (end <= length) {
        this.#begin(chunk, at, handler);
        return end;
      }
      this.#partial = [];
    }
    const partial = this.#partial;
    partial.push(chunk[at] ?? 0);
    if (partial.length > 1 && partial.length === headerBytes(partial[1] ?? 0)) {
      this.#partial = undefined;
      this.#begin(partial, 0, handler);
    }
    return at + 1;
  }

  /** The header is whole. */
  #begin(bytes: ArrayLike<number>, at: number, handler: FrameHandler): void {
    const first = bytes[at] ?? 0;
    const second = bytes[at + 1] ?? 0;
    const maskAt = at + headerBytes(second) - MASK_BYTES;
    this.#opcode = first & OPCODE_BITS;
    this.#length = payloadLength(bytes, at, second & ~MASKED);
    const violation = this.#violationOf(first, second);
    if (violation !== undefined) {
      this.#hasFailed = true;
      handler.violated(violation);
      return;
    }
    this.#mask =
      ((bytes[maskAt] ?? 0) << 24) |
      ((bytes[maskAt + 1] ?? 0) << 16) |
      ((bytes[maskAt + 2] ?? 0) << 8) |
      (bytes[maskAt + 3] ?? 0);
    this.#left = this.#length;
    if (this.#opcode < Opcode.Close) this.#isFragmented = (first & FINAL) === 0;
    else if (this.#length === 0) handler.control(this.#opcode as ControlOpcode, EMPTY);
  }

  #violationOf(first: number, second: number): FrameViolation | undefined {
    if ((first & RESERVED_BITS) !== 0)
      return protocolError('No extension was agreed that uses reserved bits');
    if ((second & MASKED) === 0) return protocolError('The frames of a client are masked');
    if (this.#length < leastLength(second & ~MASKED))
      return protocolError('A length takes the fewest bytes that hold it');
    switch (this.#opcode) {
      case Opcode.Continuation:
        if (!this.#isFragmented) return protocolError('A continuation has a message that it continues');
        return this.#grow();
      case Opcode.Binary:
        if (this.#isFragmented) return protocolError('A message ends before the next begins');
        this.#messageBytes = 0;
        return this.#grow();
      case Opcode.Text:
        if (this.#isFragmented) return protocolError('A message ends before the next begins');
        return new FrameViolation(UNSUPPORTED_DATA, 'MQTT needs binary frames'); // [MQTT-6.0.0-1]
      case Opcode.Close:
      case Opcode.Ping:
      case Opcode.Pong:
        if ((first & FINAL) === 0) return protocolError('A control frame is not fragmented');
        if (this.#length > CONTROL_BYTES_MAX)
          return protocolError(`A control frame has at most ${CONTROL_BYTES_MAX} bytes`);
        return undefined;
      default:
        return protocolError(`The opcode ${this.#opcode} is reserved`);
    }
  }

  #grow(): FrameViolation | undefined {
    this.#messageBytes += this.#length;
    if (this.#messageBytes <= this.#messageBytesMax) return undefined;
    return new FrameViolation(MESSAGE_TOO_BIG, `A message has at most ${this.#messageBytesMax} bytes`);
  }

  #readPayload(chunk: Uint8Array, at: number, length: number, handler: FrameHandler): number {
    const end = Math.min(at + this.#left, length);
    unmask(chunk, at, end, this.#mask, this.#length - this.#left);
    this.#left -= end - at;
    if (this.#opcode < Opcode.Close) handler.data(chunk, at, end);
    else this.#readControl(chunk, at, end, handler);
    return end;
  }

  #readControl(chunk: Uint8Array, at: number, end: number, handler: FrameHandler): void {
    const opcode = this.#opcode as ControlOpcode;
    if (this.#control === undefined && this.#left === 0) {
      handler.control(opcode, chunk.subarray(at, end));
      return;
    }
    this.#control ??= new Uint8Array(this.#length);
    this.#control.set(chunk.subarray(at, end), this.#length - this.#left - (end - at));
    if (this.#left > 0) return;
    const control = this.#control;
    this.#control = undefined;
    handler.control(opcode, control);
  }
}

/** Bytes of a header with this second byte. */
function headerBytes(second: number): number {
  const code = second & ~MASKED;
  const extended = code === LENGTH_64_BIT ? 8 : code === LENGTH_16_BIT ? 2 : 0;
  return 2 + extended + ((second & MASKED) === 0 ? 0 : MASK_BYTES);
}

/** A length of 64 bits that is no safe integer is above any limit as well. */
function payloadLength(bytes: ArrayLike<number>, at: number, code: number): number {
  if (code < LENGTH_16_BIT) return code;
  let length = 0;
  for (let index = at + 2; index < at + (code === LENGTH_16_BIT ? 4 : 10); index += 1)
    length = length * 256 + (bytes[index] ?? 0);
  return length;
}

/** A smaller length has to use a shorter form (section 5.2). */
function leastLength(code: number): number {
  return code === LENGTH_64_BIT ? 0x1_0000 : code === LENGTH_16_BIT ? LENGTH_16_BIT : 0;
}

function protocolError(reason: string): FrameViolation {
  return new FrameViolation(PROTOCOL_ERROR, reason);
}

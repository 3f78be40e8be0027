/** Opcodes (RFC 6455 section 5.2). */
export const Opcode = { Continuation: 0, Text: 1, Binary: 2, Close: 8, Ping: 9, Pong: 10 } as const;

export type ControlOpcode = typeof Opcode.Close | typeof Opcode.Ping | typeof Opcode.Pong;

/** The first byte: this is the last frame of its message; bits that only extensions use; the opcode. */
export const FINAL = 0x80;
export const RESERVED_BITS = 0x70;
export const OPCODE_BITS = 0x0f;
/** The second byte. */
export const MASKED = 0x80;
export const MASK_BYTES = 4;
export const LENGTH_16_BIT = 126;
export const LENGTH_64_BIT = 127;

/** A control frame has at most this many bytes of payload, and comes in one piece (section 5.5). */
export const CONTROL_BYTES_MAX = 125;

const FINAL_BINARY = FINAL | Opcode.Binary;
const CLOSE_CODE_BYTES = 2;

/** Bytes of the header of an unmasked frame with a payload of this many bytes. */
export function frameHeaderBytes(payloadBytes: number): number {
  return payloadBytes < LENGTH_16_BIT ? 2 : payloadBytes <= 0xffff ? 4 : 10;
}

/** Writes the header of an unmasked binary frame, and returns where its payload begins. */
export function writeFrameHeader(bytes: Buffer, payloadBytes: number): number {
  bytes[0] = FINAL_BINARY;
  if (payloadBytes < LENGTH_16_BIT) {
    bytes[1] = payloadBytes;
    return 2;
  }
  if (payloadBytes <= 0xffff) {
    bytes[1] = LENGTH_16_BIT;
    return bytes.writeUInt16BE(payloadBytes, 2);
  }
  bytes[1] = LENGTH_64_BIT;
  bytes.writeUInt16BE(0, 2);
  return bytes.writeUIntBE(payloadBytes, 4, 6);
}

/** A control frame of the server. A payload that is too long for one is a mistake of the caller. */
export function controlFrame(opcode: ControlOpcode, payload: Uint8Array): Buffer {
  if (payload.length > CONTROL_BYTES_MAX) throw new RangeError('A control frame has at most 125 bytes');
  const frame = Buffer.allocUnsafe(2 + payload.length);
  frame[0] = FINAL | opcode;
  frame[1] = payload.length;
  frame.set(payload, 2);
  return frame;
}

/** A close frame with a code and as much of the reason as it holds, or without both (section 5.5.1). */
export function closeFrame(code: number | undefined, reason = ''): Buffer {
  if (code === undefined) return controlFrame(Opcode.Close, Buffer.alloc(0));
  const payload = Buffer.alloc(CONTROL_BYTES_MAX);
  payload.writeUInt16BE(code);
  // `write` ends before a character that does not fit.
  const written = payload.write(reason, CLOSE_CODE_BYTES);
  return controlFrame(Opcode.Close, payload.subarray(0, CLOSE_CODE_BYTES + written));
}

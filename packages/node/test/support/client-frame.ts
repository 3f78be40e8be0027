/** A frame as a client sends it, or as one that breaks RFC 6455 does. */
export interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
  /** @default true */
  readonly isFinal?: boolean;
  /** The three reserved bits. @default 0 */
  readonly reserved?: number;
  /** @default true */
  readonly isMasked?: boolean;
  readonly mask?: number;
}

const MASK = 0x37fa213d;

export function frameBytes({
  opcode,
  payload,
  isFinal = true,
  reserved = 0,
  isMasked = true,
  mask = MASK,
}: Frame): Buffer {
  const masked = isMasked ? 0x80 : 0;
  const first = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  const key = Buffer.alloc(4);
  key.writeInt32BE(mask | 0);
  const body = isMasked ? Buffer.from(payload.map((byte, index) => byte ^ (key[index % 4] ?? 0))) : payload;
  return Buffer.concat([
    Buffer.of(first),
    lengthOf(payload.length, masked),
    ...(isMasked ? [key] : []),
    body,
  ]);
}

function lengthOf(bytes: number, masked: number): Buffer {
  if (bytes < 126) return Buffer.of(masked | bytes);
  const length = Buffer.alloc(bytes <= 0xffff ? 3 : 9);
  length[0] = masked | (bytes <= 0xffff ? 126 : 127);
  if (bytes <= 0xffff) length.writeUInt16BE(bytes, 1);
  else length.writeBigUInt64BE(BigInt(bytes), 1);
  return length;
}

/** Every payload begins with this many bytes; the rest is padding. */
export const HEADER_BYTES = 16;

export interface PayloadHeader {
  /** The run tag: a message of another run, or a retained one, is not counted. From 0 to 65,535. */
  readonly runTag: number;
  /** The stream: one publisher's messages on one topic. From 0 to 2^32 - 1. */
  readonly stream: number;
  /** The number of the message within the stream, from 0. */
  readonly counter: number;
  /** When the message was due to be sent, in microseconds modulo 2^48. */
  readonly atMicros: number;
}

/**
 * Writes the header: run tag (2 bytes), stream (4), counter (4), time (6), all big-endian.
 *
 * @throws {RangeError} for a buffer shorter than the header, and numbers that do not fit
 */
export function writeHeader(payload: Buffer, header: PayloadHeader, offset = 0): void {
  payload.writeUInt16BE(header.runTag, offset);
  payload.writeUInt32BE(header.stream, offset + 2);
  payload.writeUInt32BE(header.counter, offset + 6);
  payload.writeUIntBE(header.atMicros, offset + 10, 6);
}

/** The header; undefined for a payload that is too short to have one. */
export function readHeader(payload: Buffer, offset = 0): PayloadHeader | undefined {
  if (payload.length - offset < HEADER_BYTES) return undefined;
  return {
    runTag: payload.readUInt16BE(offset),
    stream: payload.readUInt32BE(offset + 2),
    counter: payload.readUInt32BE(offset + 6),
    atMicros: payload.readUIntBE(offset + 10, 6),
  };
}

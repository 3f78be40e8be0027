/** How far the entries of one process have come at another. */
export interface Acknowledgement {
  /** All entries up to this one have arrived. */
  readonly received: number;
  /** All entries up to this one are as durable as they have to be. */
  readonly stored: number;
  /** Later entries that are durable too. */
  readonly others: readonly number[];
  /** A later entry was dropped: the entries after `received` have to be sent again. */
  readonly isMissing: boolean;
}

/** Frames that one process sends another together. */
export interface Entry {
  readonly from: string;
  /** Ascending from 1, without gaps. 0: an acknowledgement without frames. */
  readonly number: number;
  /** A sender waits for the acknowledgement. */
  readonly isAwaited: boolean;
  /** For entries in the other direction. */
  readonly acknowledgement: Acknowledgement | undefined;
  /** Encoded. */
  readonly frames: readonly Buffer[];
}

const IS_AWAITED = 1;
const HAS_ACKNOWLEDGEMENT = 2;
const IS_MISSING = 4;

/** Counts up to 2^48 take six bytes. */
const NUMBER_BYTES = 6;
/** Flags, the length of the name, the number. */
const HEADER_BYTES = 2 + NUMBER_BYTES;
/** Two numbers, and how many others there are. */
const ACKNOWLEDGEMENT_BYTES = 2 * NUMBER_BYTES + 2;
const LENGTH_BYTES = 4;

/** How many entries an acknowledgement names. The next one names the others. */
export const OTHERS_MAX = 0xffff;

/**
 * The wire format, big-endian: flags (1), length of the name (1), number (6), the name; then, if there is an
 * acknowledgement, `received` (6), `stored` (6), how many others (2), each (6); then for each frame its length (4) and
 * its bytes.
 */
export function encodeEntry({ from, number, isAwaited, acknowledgement, frames }: Entry): Buffer {
  let length = HEADER_BYTES + from.length;
  if (acknowledgement !== undefined)
    length += ACKNOWLEDGEMENT_BYTES + acknowledgement.others.length * NUMBER_BYTES;
  for (const frame of frames) length += LENGTH_BYTES + frame.length;
  const bytes = Buffer.allocUnsafe(length);
  bytes[0] =
    (isAwaited ? IS_AWAITED : 0) |
    (acknowledgement === undefined ? 0 : HAS_ACKNOWLEDGEMENT) |
    (acknowledgement?.isMissing === true ? IS_MISSING : 0);
  bytes[1] = from.length;
  bytes.writeUIntBE(number, 2, NUMBER_BYTES);
  let at = HEADER_BYTES + bytes.write(from, HEADER_BYTES, 'latin1');
  if (acknowledgement !== undefined) at = writeAcknowledgement(bytes, at, acknowledgement);
  for (const frame of frames) {
    at = bytes.writeUInt32BE(frame.length, at);
    bytes.set(frame, at);
    at += frame.length;
  }
  return bytes;
}

/** @throws {RangeError} if bytes are missing */
export function decodeEntry(bytes: Buffer): Entry {
  const flags = bytes.readUInt8(0);
  const nameEnd = HEADER_BYTES + bytes.readUInt8(1);
  const number = bytes.readUIntBE(2, NUMBER_BYTES);
  const from = bytes.toString('latin1', HEADER_BYTES, nameEnd);
  let at = nameEnd;
  let acknowledgement: Acknowledgement | undefined;
  if ((flags & HAS_ACKNOWLEDGEMENT) !== 0) {
    acknowledgement = readAcknowledgement(bytes, at, (flags & IS_MISSING) !== 0);
    at += ACKNOWLEDGEMENT_BYTES + acknowledgement.others.length * NUMBER_BYTES;
  }
  const frames: Buffer[] = [];
  while (at < bytes.length) {
    const start = at + LENGTH_BYTES;
    at = start + bytes.readUInt32BE(at);
    if (at > bytes.length) throw new RangeError('a frame of an entry is cut short');
    frames.push(bytes.subarray(start, at));
  }
  return { from, number, isAwaited: (flags & IS_AWAITED) !== 0, acknowledgement, frames };
}

function writeAcknowledgement(bytes: Buffer, start: number, acknowledgement: Acknowledgement): number {
  const { received, stored, others } = acknowledgement;
  let at = bytes.writeUIntBE(received, start, NUMBER_BYTES);
  at = bytes.writeUIntBE(stored, at, NUMBER_BYTES);
  at = bytes.writeUInt16BE(others.length, at);
  for (const other of others) at = bytes.writeUIntBE(other, at, NUMBER_BYTES);
  return at;
}

function readAcknowledgement(bytes: Buffer, start: number, isMissing: boolean): Acknowledgement {
  const received = bytes.readUIntBE(start, NUMBER_BYTES);
  const stored = bytes.readUIntBE(start + NUMBER_BYTES, NUMBER_BYTES);
  const count = bytes.readUInt16BE(start + 2 * NUMBER_BYTES);
  const others: number[] = [];
  for (let index = 0; index < count; index += 1)
    others.push(bytes.readUIntBE(start + ACKNOWLEDGEMENT_BYTES + index * NUMBER_BYTES, NUMBER_BYTES));
  return { received, stored, others, isMissing };
}

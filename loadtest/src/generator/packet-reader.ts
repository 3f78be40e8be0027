const EMPTY = Buffer.alloc(0);

/** The largest Remaining Length in MQTT: four bytes. */
const LENGTH_BYTES_MAX = 4;

/** One packet within the received bytes. */
export interface PacketBytes {
  readonly type: number;
  readonly flags: number;
  /** The whole packet. */
  readonly bytes: Buffer;
  /** Where the bytes after the fixed header begin. */
  readonly bodyAt: number;
}

/** Cuts a stream of bytes into MQTT packets, in any pieces. */
export class PacketReader {
  #waiting: Buffer = EMPTY;

  /** @throws {RangeError} when the bytes are not MQTT */
  *push(chunk: Buffer): Generator<PacketBytes> {
    const data = this.#waiting.length === 0 ? chunk : Buffer.concat([this.#waiting, chunk]);
    this.#waiting = EMPTY;
    let at = 0;
    while (at < data.length) {
      const header = readFixedHeader(data, at);
      const end = header === undefined ? undefined : header.bodyAt + header.length;
      if (header === undefined || end === undefined || end > data.length) {
        this.#waiting = data.subarray(at);
        return;
      }
      const first = data[at] ?? 0;
      yield {
        type: first >> 4,
        flags: first & 0x0f,
        bytes: data.subarray(at, end),
        bodyAt: header.bodyAt - at,
      };
      at = end;
    }
  }
}

function readFixedHeader(data: Buffer, at: number): { bodyAt: number; length: number } | undefined {
  let length = 0;
  for (let read = 0; read < LENGTH_BYTES_MAX; read += 1) {
    const byte = data[at + 1 + read];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) * 128 ** read;
    if (byte < 0x80) return { bodyAt: at + 2 + read, length };
  }
  throw new RangeError('the broker sent a Remaining Length of more than four bytes');
}

/** Where the packet id and the payload of a PUBLISH stand. */
export interface PublishPlaces {
  readonly qos: number;
  readonly packetId: number;
  readonly payloadAt: number;
}

export function placesOf({ bytes, flags, bodyAt }: PacketBytes, hasProperties: boolean): PublishPlaces {
  const qos = (flags >> 1) & 3;
  let at = bodyAt + 2 + bytes.readUInt16BE(bodyAt);
  const packetId = qos === 0 ? 0 : bytes.readUInt16BE(at);
  if (qos > 0) at += 2;
  if (hasProperties) {
    let length = 0;
    let factor = 1;
    let byte: number;
    do {
      byte = bytes[at] ?? 0;
      length += (byte & 0x7f) * factor;
      factor *= 128;
      at += 1;
    } while (byte >= 0x80);
    at += length;
  }
  return { qos, packetId, payloadAt: at };
}

const PUBLISH = 3;

/** More than a sensible frame has. Further topics are read one by one. */
const TOPIC_NAMES_MAX = 90;

/**
 * The topic names of the PUBLISH packets in a frame. They stand at the same place in all protocol versions. It is a
 * guess at what to read ahead; the decoder judges malformed bytes. Topics of retained messages are left out: the
 * broker looks up their subscribers only after it has retained them.
 */
export function topicNamesOf(bytes: Buffer): string[] {
  const names: string[] = [];
  const distinct = new Set<string>();
  let start = 0;
  while (start < bytes.length && distinct.size < TOPIC_NAMES_MAX) {
    const type = (bytes[start] ?? 0) >> 4;
    const length = remainingLength(bytes, start + 1);
    if (length === undefined) break;
    const end = length.bodyStart + length.bodyBytes;
    if (end > bytes.length) break;
    const isRead = type === PUBLISH && !isRetained(bytes[start]);
    const name = isRead ? topicOf(bytes.subarray(length.bodyStart, end)) : undefined;
    if (name !== undefined) {
      names.push(name);
      distinct.add(name);
    }
    start = end;
  }
  return names;
}

/** Whether a frame holds one packet, as far as its length says. */
export function isOnePacket(bytes: Buffer): boolean {
  const length = remainingLength(bytes, 1);
  return length !== undefined && length.bodyStart + length.bodyBytes === bytes.length;
}

function isRetained(firstByte = 0): boolean {
  return (firstByte & 1) === 1;
}

function topicOf(body: Buffer): string | undefined {
  if (body.length < 2) return undefined;
  const bytes = body.readUInt16BE(0);
  return bytes > 0 && 2 + bytes <= body.length ? body.toString('utf8', 2, 2 + bytes) : undefined;
}

/** A variable byte integer (section 1.5.5). */
function remainingLength(
  bytes: Buffer,
  from: number,
): { readonly bodyStart: number; readonly bodyBytes: number } | undefined {
  let value = 0;
  for (let index = 0; index < 4; index += 1) {
    const byte = bytes[from + index];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 128 ** index;
    if (byte < 0x80) return { bodyStart: from + index + 1, bodyBytes: value };
  }
  return undefined;
}

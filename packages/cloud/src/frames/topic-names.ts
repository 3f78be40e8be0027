const PUBLISH = 3;

/** Enough for any frame that makes sense; more topics than these are read one by one. */
const TOPIC_NAMES_MAX = 90;

/**
 * The topic names of the PUBLISH packets in a frame, each once, found without knowing the protocol version: they stand
 * at the same place in all. The result is a guess at what to read ahead; the decoder judges malformed bytes. Topics of
 * retained messages are left out: the broker looks for their subscribers only after it has retained them.
 */
export function topicNamesOf(bytes: Buffer): string[] {
  const names = new Set<string>();
  let start = 0;
  while (start < bytes.length && names.size < TOPIC_NAMES_MAX) {
    const type = (bytes[start] ?? 0) >> 4;
    const length = remainingLength(bytes, start + 1);
    if (length === undefined) break;
    const end = length.bodyStart + length.bodyBytes;
    if (end > bytes.length) break;
    if (type === PUBLISH && !isRetained(bytes[start])) addTopic(names, bytes.subarray(length.bodyStart, end));
    start = end;
  }
  return [...names];
}

function isRetained(firstByte = 0): boolean {
  return (firstByte & 1) === 1;
}

function addTopic(names: Set<string>, body: Buffer): void {
  if (body.length < 2) return;
  const bytes = body.readUInt16BE(0);
  if (bytes > 0 && 2 + bytes <= body.length) names.add(body.toString('utf8', 2, 2 + bytes));
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

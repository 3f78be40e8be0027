/** Where the payload of a PUBLISH begins, counted from the packet's first byte (3.3). */
export function payloadOffset(packet: Uint8Array, protocolVersion: number): number {
  const qos = ((packet[0] ?? 0) >> 1) & 0x03;
  let at = 1;
  while (((packet[at] ?? 0) & 0x80) !== 0) at += 1;
  at += 1;
  at += 2 + (((packet[at] ?? 0) << 8) | (packet[at + 1] ?? 0));
  if (qos > 0) at += 2;
  if (protocolVersion !== 5) return at;
  let length = 0;
  let scale = 1;
  for (;;) {
    const byte = packet[at] ?? 0;
    length += (byte & 0x7f) * scale;
    at += 1;
    if ((byte & 0x80) === 0) return at + length;
    scale *= 128;
  }
}

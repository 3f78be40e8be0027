/** Marks the payloads of a run: other clients may publish to its topics. */
const MAGIC = 0x41505553;

const OFFSETS = { magic: 0, publisher: 4, sequence: 8, dueAtMs: 12 } as const;

export interface Stamp {
  readonly publisher: number;
  readonly sequence: number;
  /** When it was due, on the clock of the run. */
  readonly dueAtMs: number;
}

/** A payload of that size; it begins with the fields for its receiver. */
export function writePayload({ publisher, sequence, dueAtMs }: Stamp, bytes: number): Uint8Array {
  const payload = new Uint8Array(bytes);
  const view = new DataView(payload.buffer);
  view.setUint32(OFFSETS.magic, MAGIC);
  view.setUint32(OFFSETS.publisher, publisher);
  view.setUint32(OFFSETS.sequence, sequence);
  view.setFloat64(OFFSETS.dueAtMs, dueAtMs);
  return payload;
}

/** Undefined if it is no payload of a run. */
export function readPayload(payload: Uint8Array): Stamp | undefined {
  if (payload.length < OFFSETS.dueAtMs + 8) return undefined;
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  if (view.getUint32(OFFSETS.magic) !== MAGIC) return undefined;
  return {
    publisher: view.getUint32(OFFSETS.publisher),
    sequence: view.getUint32(OFFSETS.sequence),
    dueAtMs: view.getFloat64(OFFSETS.dueAtMs),
  };
}

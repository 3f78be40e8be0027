import { PACKET_OVERHEAD_BYTES } from '../publishing.ts';
import type { FleetWorkload } from './workload.ts';

/** The buffer of a lost session is one item with at most this many bytes (docs/text-frames.md). */
const BUFFER_BYTES_MAX = 8_192;

/** DynamoDB bills a write by the KB begun. */
const WRITE_UNIT_BYTES = 1_024;

/** The messages that are sent to one client from the cut on: the first, then one each interval. */
export class MessagesAway {
  readonly firstAtMs: number;
  readonly #intervalMs: number;

  constructor(firstAtMs: number, intervalMs: number) {
    this.firstAtMs = firstAtMs;
    this.#intervalMs = intervalMs;
  }

  /** Messages from the cut to this time. */
  until(ms: number): number {
    if (ms < this.firstAtMs) return 0;
    return Math.floor((ms - this.firstAtMs) / this.#intervalMs) + 1;
  }
}

export function packetBytesOf({ payloadBytes }: FleetWorkload): number {
  return payloadBytes + PACKET_OVERHEAD_BYTES;
}

/** Messages that the buffer of a lost session holds. */
export function bufferCapacity(workload: FleetWorkload): number {
  return Math.min(workload.bufferMessages, Math.floor(BUFFER_BYTES_MAX / packetBytesOf(workload)));
}

/** Write units of this many messages in a buffer: each of them writes the whole item anew. */
export function bufferWrites(messages: number, packetBytes: number): number {
  let writes = 0;
  for (let held = 1; held <= messages; held += 1)
    writes += Math.ceil((held * packetBytes) / WRITE_UNIT_BYTES);
  return writes;
}

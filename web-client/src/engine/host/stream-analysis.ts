import { streamFacts } from '../stream-reading.ts';
import type { MessageProperties } from '../types.ts';

/** JSON members, and names of user properties, that are read as the time of sending. */
const TIME_NAMES = ['timestamp', 'ts', 'time', 'sentAt', 'sent_at'] as const;

/** Names that are read as a sequence number. */
const SEQUENCE_NAMES = ['seq', 'sequence', 'sequenceNumber', 'sequence_number', 'counter'] as const;

/** Larger payloads are not parsed for a timestamp: the cost would be too high. */
const PARSED_BYTES_MAX = 8_192;

/** A timestamp further away than this is something else, or comes from a wrong clock. */
const LATENCY_MS_MAX = 600_000;

/** Topics whose last sequence number is remembered. */
const TOPICS_MAX = 10_000;

/** Numbers above these are not seconds, milliseconds or microseconds since 1970 (they would lie beyond the year 2300). */
const SECONDS_MAX = 1e10;
const MILLISECONDS_MAX = 1e13;
const MICROSECONDS_MAX = 1e16;

const BRACE = 0x7b;
const decoder = new TextDecoder();

export interface Analysis {
  readonly latencyMs: number | undefined;
  readonly missingBefore: number;
}

const NOTHING: Analysis = { latencyMs: undefined, missingBefore: 0 };

/** Measures a stream of messages: the age of each, and the gaps. */
export class StreamAnalysis {
  readonly #lastSequences = new Map<string, number>();

  /** @param atMs when it came, in milliseconds since 1970 */
  look(
    topic: string,
    payload: Uint8Array,
    properties: MessageProperties | undefined,
    atMs: number,
    isRetained: boolean,
  ): Analysis {
    // A retained message has no latency, and is not part of the stream.
    if (isRetained) return NOTHING;
    // Neither is a message from the history of a stream, which has its own numbers.
    if (properties !== undefined && streamFacts(properties)?.kind !== undefined) return NOTHING;
    const members = membersOf(payload);
    const pairs = properties?.userProperties;
    if (members === undefined && pairs === undefined) return NOTHING;
    const find = (names: readonly string[]): unknown =>
      valueIn(members, names) ?? pairs?.find(([name]) => names.includes(name))?.[1];
    const sequence = asNumber(find(SEQUENCE_NAMES));
    return {
      latencyMs: latency(find(TIME_NAMES), atMs),
      missingBefore: sequence === undefined ? 0 : this.#missingBefore(topic, sequence),
    };
  }

  #missingBefore(topic: string, sequence: number): number {
    const last = this.#lastSequences.get(topic);
    if (last === undefined && this.#lastSequences.size >= TOPICS_MAX) this.#lastSequences.clear();
    this.#lastSequences.set(topic, sequence);
    // A smaller number means that the publisher has restarted.
    return last === undefined || sequence <= last + 1 ? 0 : sequence - last - 1;
  }
}

function membersOf(payload: Uint8Array): Record<string, unknown> | undefined {
  if (payload[0] !== BRACE || payload.length > PARSED_BYTES_MAX) return undefined;
  try {
    return JSON.parse(decoder.decode(payload)) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function valueIn(members: Record<string, unknown> | undefined, names: readonly string[]): unknown {
  if (members === undefined) return undefined;
  for (const name of names) if (Object.hasOwn(members, name)) return members[name];
  return undefined;
}

function latency(value: unknown, atMs: number): number | undefined {
  const sentAtMs =
    typeof value === 'string' && !isNumeric(value) ? Date.parse(value) : inMilliseconds(asNumber(value));
  const age = atMs - sentAtMs;
  return Math.abs(age) <= LATENCY_MS_MAX ? age : undefined;
}

function inMilliseconds(time: number | undefined): number {
  if (time === undefined) return Number.NaN;
  if (time < SECONDS_MAX) return time * 1_000;
  if (time < MILLISECONDS_MAX) return time;
  return time < MICROSECONDS_MAX ? time / 1_000 : time / 1_000_000;
}

function asNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && isNumeric(value) ? Number(value) : undefined;
}

function isNumeric(text: string): boolean {
  return /^\d{1,20}(\.\d+)?$/.test(text);
}

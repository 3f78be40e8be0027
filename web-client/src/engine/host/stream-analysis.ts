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
  /** Numbers that were left out; `LATE` for a message that fills an earlier gap. */
  readonly missingBefore: number;
}

/** The message was missed, and comes after all. */
export const LATE = -1;

/**
 * Steps of one that a counter must have shown in a topic: one that counts over many topics jumps in each of them, and
 * tells nothing of what is missing.
 */
const STEPS_TRUSTED = 3;

/** Steps of one for each jump, so that a few of them by chance are not trusted. */
const STEPS_PER_JUMP = 3;

/** Gaps of a topic that a late message may fill; the oldest are forgotten. */
const GAPS_MAX = 8;

interface Counter {
  last: number;
  steps: number;
  jumps: number;
  gaps: { readonly after: number; readonly before: number }[];
}

const NOTHING: Analysis = { latencyMs: undefined, missingBefore: 0 };

/** Measures a stream of messages: the age of each, and the gaps. */
export class StreamAnalysis {
  readonly #counters = new Map<string, Counter>();

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
    const counter = this.#counters.get(topic);
    if (counter === undefined) {
      if (this.#counters.size >= TOPICS_MAX) this.#counters.clear();
      this.#counters.set(topic, { last: sequence, steps: 0, jumps: 0, gaps: [] });
      return 0;
    }
    const { last, gaps } = counter;
    if (sequence < last && gaps.some(({ after, before }) => sequence > after && sequence < before))
      return LATE;
    counter.last = sequence;
    if (sequence === last + 1) counter.steps += 1;
    // A smaller number means that the publisher has restarted.
    if (sequence <= last + 1) return 0;
    const isTrusted = counter.steps >= STEPS_TRUSTED && counter.steps >= STEPS_PER_JUMP * (counter.jumps + 1);
    counter.jumps += 1;
    if (!isTrusted) return 0;
    counter.gaps = [...gaps, { after: last, before: sequence }].slice(-GAPS_MAX);
    return sequence - last - 1;
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

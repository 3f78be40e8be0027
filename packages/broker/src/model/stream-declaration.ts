import { covers, intersects, matches, validateTopicFilter } from '@apus/mqtt';

/** A stream as the owner declares it. */
export interface StreamDeclaration {
  /** Letters, digits, `_`, `-` and `.`, at most 64: as in `$stream/NAME`. */
  readonly name: string;
  /** Messages to the topics that it matches are kept. Streams have no topic in common. */
  readonly topicFilter: string;
  /** How long a message is kept. */
  readonly keepSeconds: number;
  /** Messages of one topic that are handed out. */
  readonly messagesMax: number;
  /** Bytes of topics, payloads and properties of one topic that are handed out. */
  readonly bytesMax: number;
  /** Topics that the stream keeps at most; one identity opens half of them at most (`mayOpen`). Beyond it: 0x97. */
  readonly topicsMax: number;
  /** The user property that holds a message's key. Undefined: each topic is one key. */
  readonly key: string | undefined;
  /** New readers are sent the last value of each key. */
  readonly snapshot: boolean;
}

export const STREAM_DEFAULTS = {
  keepSeconds: 24 * 60 * 60,
  messagesMax: 1000,
  bytesMax: 16 * 1024 * 1024,
  topicsMax: 10_000,
  key: undefined,
  snapshot: false,
} as const satisfies Omit<StreamDeclaration, 'name' | 'topicFilter'>;

/** Streams of a broker. Each PUBLISH is compared with the filter of each. */
export const STREAMS_MAX = 100;

/**
 * Whether one more topic may be opened for a holder, which leaves as many to all others as it has itself [SEC-POOL-7].
 *
 * @param topics of the stream
 * @param own those that were opened for this holder
 */
export function mayOpen({ topicsMax }: StreamDeclaration, topics: number, own: number): boolean {
  return own < topicsMax - topics;
}

const NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const KEEP_SECONDS_MAX = 366 * 24 * 60 * 60;
const MESSAGES_MAX = 1_000_000;
const FIELDS = new Set(['name', 'topicFilter', ...Object.keys(STREAM_DEFAULTS)]);

/** A stream in a file or program: absent members have defaults. */
export type GivenStream = Pick<StreamDeclaration, 'name' | 'topicFilter'> & {
  readonly [K in keyof typeof STREAM_DEFAULTS]?: StreamDeclaration[K] | undefined;
};

/** The streams of a broker, by topic and by name. */
export class StreamDeclarations {
  readonly all: readonly StreamDeclaration[];

  constructor(all: readonly StreamDeclaration[]) {
    this.all = all;
  }

  /** The stream that keeps what is published to the topic. */
  covering(topic: string): StreamDeclaration | undefined {
    for (const stream of this.all) if (matches(stream.topicFilter, topic)) return stream;
    return undefined;
  }

  /** The stream that keeps everything that a subscription to the filter would be sent. */
  coveringFilter(topicFilter: string): StreamDeclaration | undefined {
    return this.all.find((stream) => covers(stream.topicFilter, topicFilter));
  }

  named(name: string): StreamDeclaration | undefined {
    return this.all.find((stream) => stream.name === name);
  }
}

/** @throws {Error} with a sentence, where something is wrong */
export function readStreams(given: unknown, where: string): StreamDeclarations {
  if (!Array.isArray(given)) throw new Error(`${where} is a list of streams.`);
  if (given.length > STREAMS_MAX) throw new Error(`${where} has at most ${STREAMS_MAX} streams.`);
  const streams: StreamDeclaration[] = [];
  for (const [index, each] of given.entries()) {
    const stream = readStream(each, `${where}[${index}]`);
    for (const other of streams) checkApart(stream, other, where);
    streams.push(stream);
  }
  return new StreamDeclarations(streams);
}

function readStream(given: unknown, where: string): StreamDeclaration {
  if (typeof given !== 'object' || given === null) throw new Error(`${where} is an object.`);
  const unknown = Object.keys(given).find((field) => !FIELDS.has(field));
  if (unknown !== undefined)
    throw new Error(`${where} has no field "${unknown}": there are ${[...FIELDS].join(', ')}.`);
  const stream = { ...STREAM_DEFAULTS, ...withoutUndefined(given) } as StreamDeclaration;
  const problem = problemOf(stream);
  if (problem !== undefined) throw new Error(`${where}: ${problem}`);
  return stream;
}

function problemOf(stream: StreamDeclaration): string | undefined {
  const { name, topicFilter, key, snapshot } = stream;
  if (typeof name !== 'string' || !NAME.test(name))
    return 'name has 1 to 64 letters, digits, "_", "-" and ".".';
  if (typeof topicFilter !== 'string') return 'topicFilter is a topic filter.';
  const invalid = validateTopicFilter(topicFilter);
  if (invalid !== undefined) return `${invalid.reason}.`;
  if (topicFilter.startsWith('$')) return 'topicFilter does not begin with "$".';
  if (key !== undefined && (typeof key !== 'string' || key === ''))
    return 'key is the name of a user property.';
  if (typeof snapshot !== 'boolean') return 'snapshot is true or false.';
  return (
    countProblem('keepSeconds', stream.keepSeconds, KEEP_SECONDS_MAX) ??
    countProblem('messagesMax', stream.messagesMax, MESSAGES_MAX) ??
    countProblem('bytesMax', stream.bytesMax, Number.MAX_SAFE_INTEGER) ??
    countProblem('topicsMax', stream.topicsMax, MESSAGES_MAX)
  );
}

function countProblem(field: string, value: unknown, maximum: number): string | undefined {
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= maximum) return undefined;
  return `${field} is a whole number from 1 to ${maximum}.`;
}

/** A topic is in one stream at most, so that a message has one position. */
function checkApart(one: StreamDeclaration, other: StreamDeclaration, where: string): void {
  if (one.name === other.name) throw new Error(`${where} has two streams "${one.name}".`);
  if (!intersects(one.topicFilter, other.topicFilter)) return;
  throw new Error(
    `${where}: the streams "${other.name}" (${other.topicFilter}) and "${one.name}" (${one.topicFilter}) have topics in common.`,
  );
}

function withoutUndefined(given: object): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

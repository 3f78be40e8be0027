import { containsWildcard, type UserProperties } from '@apus/mqtt';
import type { Context } from '../context.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Connection, PastRoom } from '../model/link.ts';
import { messageBytes } from '../model/page.ts';
import { holderKeyOf } from '../model/quota-holder.ts';
import type { Reader } from '../model/session.ts';
import type { StreamTopicTail } from '../ports/index.ts';
import { chargeReads, mayRead, READ_UNIT_BYTES } from '../subscribe/write-quota.ts';
import { holdGiven, reach } from './feed.ts';
import type { StreamFilter } from './names.ts';
import { formatPosition, type StreamPosition, StreamProperty } from './position.ts';
import { type Begin, type Past, type Reading, readAtOnce, TOPICS_AT_ONCE_MAX } from './read-at-once.ts';
import { StreamReader, TOPICS_BEHIND_MAX } from './reader.ts';
import type { StartFrom, StreamStart } from './start.ts';

const FIRST = { messages: 1, bytes: 1 };

/** Bytes of a user property beside its name and its value. */
const PROPERTY_BYTES = 5;

/** A subscription to a stream that a SUBSCRIBE asks for. */
export interface Joining extends StreamFilter {
  readonly start: StreamStart;
  readonly reader: Reader;
}

/** A reader that has joined, and what its SUBACK says. */
export interface Joined {
  /** The user properties of SUBACK. */
  readonly told: UserProperties;
  /** Past messages to send after SUBACK, if the door keeps no readers. */
  readonly past: readonly Past[];
}

/**
 * Finds where a reader begins in each topic, after its subscription was stored: from then on each message is held back
 * from it or sent to it, so history and live messages meet without a gap.
 *
 * @param room of a door that keeps no readers: history is read here, as far as it has room
 */
export function* join(
  context: Context,
  connection: Connection,
  joining: Joining,
  room: PastRoom | undefined,
): Flow<Joined | 'full' | 'contended' | 'too-many' | 'exhausted'> {
  const { streams, clock } = context.ports;
  const { tenant } = connection.identity;
  if (!mayRead(context, connection)) return 'exhausted';
  if (streams === undefined) throw new Error('there are no streams');
  const { reader, start, stream } = joining;
  const nowMs = clock.now();
  const isOrdered = reader instanceof StreamReader;
  const { identity, session } = connection;
  const holder = holderKeyOf({ identity, clientId: session.clientId });
  const reading: Reading = { store: streams.store, tenant, stream, nowMs, isOrdered, holder };
  const openings = streams.feed?.openings ?? 0;
  const tails = yield* tailsOf(context, reading, joining);
  if (typeof tails === 'string') {
    yield* chargeReads(context, connection, tails === 'too-many' ? TOPICS_AT_ONCE_MAX : 1);
    return tails;
  }
  yield* reach(context, tenant, reader, tails);
  const told: [string, string][] = [];
  const past: Past[] = [];
  let isRecovered = true;
  for (const tail of tails) {
    const begin = yield* beginIn(reading, start, tail);
    isRecovered &&= begin.isRecovered;
    let first: number | undefined;
    if (reader instanceof StreamReader) {
      const found = yield* firstOf(reading, tail, begin);
      if (found === 'lost') return 'contended';
      first = found;
      place(reader, tail, begin, first);
    } else if (room !== undefined) {
      const read = yield* readAtOnce(reading, tail, begin, room);
      isRecovered &&= read.isWhole;
      first = read.past[0]?.entry.number;
      past.push(...read.past);
    }
    if (tails.length <= TOPICS_BEHIND_MAX) told.push(...positionsOf(joining, tail, first));
  }
  const bytes = past.reduce((sum, { entry }) => sum + messageBytes(entry.message), 0);
  yield* chargeReads(context, connection, tails.length + bytes / READ_UNIT_BYTES);
  // The client has a position in a topic that does not exist any more: its history is gone.
  const topics = new Set(tails.map(({ topic }) => topic));
  if ([...start.positions.keys()].some((topic) => !topics.has(topic))) isRecovered = false;
  if (reader instanceof StreamReader) {
    holdGiven(context, tenant, reader, tails, openings);
    if (streams.feed !== undefined) reader.readWhole((topic) => !topics.has(topic));
    reader.isJoining = false;
  }
  const isTold = room === undefined || takePositions(told, room);
  if (!isTold && !isLive(joining)) return 'too-many';
  return { told: [[StreamProperty.recovered, String(isRecovered)], ...(isTold ? told : [])], past };
}

/** Whether the positions have room in the SUBACK. Their topics may be as long as a packet. */
function takePositions(told: UserProperties, room: PastRoom): boolean {
  let bytes = 0;
  for (const [name, value] of told) bytes += name.length + Buffer.byteLength(value) + PROPERTY_BYTES;
  if (bytes > Math.min(room.positionBytes, room.bytes)) return false;
  room.bytes -= bytes;
  return true;
}

/** The reader asks for no past: it need not know where it begins. */
function isLive({ start: { positions, from }, stream }: Joining): boolean {
  return positions.size === 0 && (from === undefined ? !stream.snapshot : from.at === 'latest');
}

/** Number of the first past message that the reader is sent. */
function* firstOf(
  { store, tenant, stream, nowMs }: Reading,
  tail: StreamTopicTail,
  { after, hasValues }: Begin,
): Flow<number | undefined | 'lost'> {
  if (!hasValues) return after === undefined ? undefined : after + 1;
  const page = yield* waitFor(store.lastValues(tenant, stream, tail, 0, FIRST, nowMs));
  return page === 'lost' ? page : page[0]?.number;
}

/** The newest position of a topic; and the position after which the past begins, if there is a past. */
function* positionsOf(
  { topicFilter }: Joining,
  { epoch, last, topic }: StreamTopicTail,
  first: number | undefined,
): Iterable<[string, string]> {
  const behind = containsWildcard(topicFilter) ? ` ${topic}` : '';
  yield [StreamProperty.position, formatPosition({ epoch, number: last }) + behind];
  if (first !== undefined && first <= last)
    yield [StreamProperty.after, formatPosition({ epoch, number: first - 1 }) + behind];
}

/** The ends of the topics that the reader has to know: to be live in a topic from now on it need not know the end. */
function* tailsOf(
  context: Context,
  { store, tenant, stream, nowMs, holder }: Reading,
  joining: Joining,
): Flow<readonly StreamTopicTail[] | 'full' | 'contended' | 'too-many'> {
  const { topicFilter, reader } = joining;
  if (!containsWildcard(topicFilter)) {
    const tail = yield* waitFor(store.tail(tenant, stream, topicFilter, nowMs, holder));
    return typeof tail === 'string' ? tail : [{ ...tail, topic: topicFilter }];
  }
  const topicsMax = reader instanceof StreamReader ? TOPICS_BEHIND_MAX : TOPICS_AT_ONCE_MAX;
  const tails = yield* waitFor(store.topics(tenant, stream, topicFilter, topicsMax, nowMs));
  if (tails !== 'too-many' || !isLive(joining)) return tails;
  if (context.ports.streams?.feed === undefined) return [];
  // If messages are sent in order, the ends of all topics have to be known.
  return yield* waitFor(store.topics(tenant, stream, topicFilter, Number.POSITIVE_INFINITY, nowMs));
}

function* beginIn(reading: Reading, { positions, from }: StreamStart, tail: StreamTopicTail): Flow<Begin> {
  const position = positions.get(tail.topic);
  if (position !== undefined) {
    const after = yield* placeOf(reading, position, tail);
    return after === undefined
      ? { isRecovered: false, ...(yield* lastValues(reading, tail)) }
      : { isRecovered: true, after, kind: 'recovered' };
  }
  if (from !== undefined) return yield* beginFrom(reading, from, tail);
  if (positions.size > 0) {
    // The topic began after the client's last positions, so all of it is new.
    if ((yield* firstKept(reading, tail, 1)) === 1) return { isRecovered: true, after: 0, kind: 'recovered' };
    return { isRecovered: false, ...(yield* lastValues(reading, tail)) };
  }
  if (!reading.stream.snapshot) return { isRecovered: true };
  return { isRecovered: true, ...(yield* lastValues(reading, tail)) };
}

/** The number after which the client may have missed messages. Undefined: messages after it are not kept any more. */
function* placeOf(
  reading: Reading,
  { epoch, number, stable = number }: StreamPosition,
  tail: StreamTopicTail,
): Flow<number | undefined> {
  const seen = reading.isOrdered ? number : stable;
  if (epoch !== tail.epoch || number > tail.last) return undefined;
  if (seen === tail.last) return seen;
  return (yield* firstKept(reading, tail, seen + 1)) === seen + 1 ? seen : undefined;
}

function* firstKept(
  { store, tenant, stream, nowMs }: Reading,
  tail: StreamTopicTail,
  from: number,
): Flow<number> {
  return yield* waitFor(store.firstKept(tenant, stream, tail, from, nowMs));
}

/** The last value of each key, if the stream keeps a snapshot; otherwise the last message. */
function* lastValues(
  reading: Reading,
  tail: StreamTopicTail,
): Flow<Pick<Begin, 'hasValues' | 'after' | 'kind'>> {
  const kind = 'snapshot';
  if (reading.stream.snapshot) return { kind, hasValues: true };
  const { last } = tail;
  return last > 0 && (yield* firstKept(reading, tail, last)) === last ? { kind, after: last - 1 } : {};
}

function* beginFrom(reading: Reading, from: StartFrom, tail: StreamTopicTail): Flow<Begin> {
  const { store, tenant, stream, nowMs } = reading;
  const kind = 'historical';
  switch (from.at) {
    case 'latest':
      return { isRecovered: true };
    case 'earliest':
      return { isRecovered: true, after: (yield* firstKept(reading, tail, 1)) - 1, kind };
    case 'count': {
      const first = Math.max(1, tail.last - from.count + 1);
      return { isRecovered: true, after: (yield* firstKept(reading, tail, first)) - 1, kind };
    }
    case 'time': {
      const since = yield* waitFor(store.since(tenant, stream, tail, from.tsMs, nowMs));
      return { isRecovered: since.isComplete, after: since.number - 1, kind };
    }
  }
}

/** Places the reader. Messages that were held back meanwhile come after `tail`, or are in it. */
function place(
  reader: StreamReader,
  tail: StreamTopicTail,
  { after = tail.last, kind, hasValues }: Begin,
  first: number | undefined,
): void {
  const { topic, epoch, last } = tail;
  const heldUpTo = Math.max(last, reader.behind.get(topic)?.heldUpTo ?? 0);
  const values = hasValues && first !== undefined ? { tail, after: first - 1 } : undefined;
  if (after < heldUpTo || values !== undefined)
    reader.behind.set(topic, { epoch, after, heldUpTo, pastUpTo: last, kind, values });
  else reader.behind.delete(topic);
}

import { containsWildcard, type UserProperties } from '@apus/mqtt';
import type { Context } from '../context.ts';
import { type Flow, waitFor } from '../flow.ts';
import type { Connection } from '../link.ts';
import type { StreamEntry, StreamStore, StreamTail } from '../ports/index.ts';
import type { StreamFilter } from './names.ts';
import { formatPosition, type StreamKind, type StreamPosition, StreamProperty } from './position.ts';
import { type StreamReader, TOPICS_BEHIND_MAX } from './reader.ts';
import type { StartFrom, StreamStart } from './start.ts';

/** A subscription to a stream that is being made. */
export interface Joining extends StreamFilter {
  readonly start: StreamStart;
  readonly reader: StreamReader;
}

/** SUBACK names the newest position of each topic of a wildcard filter up to this number of topics. */
const TOLD_TOPICS_MAX = 100;

/** Where a reader begins in one topic. Without `after` it is live at once. */
interface Begin {
  readonly isRecovered: boolean;
  readonly after?: number;
  readonly kind?: StreamKind;
  /** The last values instead of messages. */
  readonly values?: StreamEntry[];
}

/**
 * Finds where the reader begins in each topic, when its subscription has been stored. Everything that has been published
 * since is held back from it, so that history and live messages meet without a seam. Returns what SUBACK says.
 */
export function* join(
  context: Context,
  { identity: { tenant } }: Connection,
  joining: Joining,
): Flow<UserProperties | 'full' | 'too-many'> {
  const { streams, clock } = context.ports;
  if (streams === undefined) throw new Error('there are no streams');
  const { reader, start, stream } = joining;
  const topics = yield* topicsOf(streams.store, tenant, joining);
  if (topics === 'too-many') return topics;
  const told: [string, string][] = [];
  let isRecovered = true;
  for (const topic of topics) {
    const nowMs = clock.now();
    const tail = yield* waitFor(streams.store.tail(tenant, stream, topic, nowMs));
    if (tail === 'full') return tail;
    const begin = yield* beginIn(streams.store, tenant, joining, topic, tail, nowMs);
    isRecovered &&= begin.isRecovered;
    place(reader, topic, tail, begin);
    const position = formatPosition({ epoch: tail.epoch, number: tail.last });
    told.push([
      StreamProperty.position,
      containsWildcard(joining.topicFilter) ? `${position} ${topic}` : position,
    ]);
  }
  // A position of a topic that is not there any more: its history is gone.
  if ([...start.positions.keys()].some((topic) => !topics.includes(topic))) isRecovered = false;
  reader.isJoining = false;
  return [[StreamProperty.recovered, String(isRecovered)], ...(told.length <= TOLD_TOPICS_MAX ? told : [])];
}

/** To be live in a topic from now on, a reader need not look at it. */
function* topicsOf(
  store: StreamStore,
  tenant: string,
  { stream, topicFilter, start }: Joining,
): Flow<readonly string[] | 'too-many'> {
  if (!containsWildcard(topicFilter)) return [topicFilter];
  const topics = yield* waitFor(store.topics(tenant, stream, topicFilter, TOPICS_BEHIND_MAX));
  const isLive =
    start.positions.size === 0 &&
    (start.from?.at === 'latest' || (start.from === undefined && !stream.snapshot));
  return topics === 'too-many' && isLive ? [] : topics;
}

function* beginIn(
  store: StreamStore,
  tenant: string,
  { start, stream }: Joining,
  topic: string,
  tail: StreamTail,
  nowMs: number,
): Flow<Begin> {
  const position = start.positions.get(topic);
  if (position !== undefined) {
    if (isKnown(position, tail)) return { isRecovered: true, after: position.number, kind: 'recovered' };
    return { isRecovered: false, ...(yield* lastValues(store, tenant, topic, stream.snapshot, nowMs)) };
  }
  if (start.from !== undefined) return yield* beginFrom(store, tenant, topic, start.from, tail, nowMs);
  // A topic that began after the client's last positions: all of it is new.
  if (start.positions.size > 0 && tail.firstKept === 1)
    return { isRecovered: true, after: 0, kind: 'recovered' };
  if (start.positions.size > 0)
    return { isRecovered: false, ...(yield* lastValues(store, tenant, topic, stream.snapshot, nowMs)) };
  if (!stream.snapshot) return { isRecovered: true };
  return { isRecovered: true, ...(yield* lastValues(store, tenant, topic, true, nowMs)) };
}

/** Nothing behind the position is missing. */
function isKnown({ epoch, number }: StreamPosition, tail: StreamTail): boolean {
  return epoch === tail.epoch && number <= tail.last && number + 1 >= tail.firstKept;
}

/** The last value of each key where the stream keeps a snapshot, otherwise the last value. */
function* lastValues(
  store: StreamStore,
  tenant: string,
  topic: string,
  isSnapshot: boolean,
  nowMs: number,
): Flow<Pick<Begin, 'values' | 'kind'>> {
  const values = yield* waitFor(store.lastValues(tenant, topic, nowMs));
  return { kind: 'snapshot', values: isSnapshot ? [...values] : values.slice(-1) };
}

function* beginFrom(
  store: StreamStore,
  tenant: string,
  topic: string,
  from: StartFrom,
  { firstKept, last, completeSinceMs }: StreamTail,
  nowMs: number,
): Flow<Begin> {
  const kind = 'historical';
  switch (from.at) {
    case 'latest':
      return { isRecovered: true };
    case 'earliest':
      return { isRecovered: true, after: firstKept - 1, kind };
    case 'count':
      return { isRecovered: true, after: Math.max(firstKept - 1, last - from.count), kind };
    case 'time': {
      const number = yield* waitFor(store.numberSince(tenant, topic, from.tsMs, nowMs));
      return { isRecovered: completeSinceMs <= from.tsMs, after: number - 1, kind };
    }
  }
}

/** Messages that have been held back meanwhile stand behind `tail`, or are in it. */
function place(reader: StreamReader, topic: string, { epoch, last }: StreamTail, begin: Begin): void {
  const { after = last, kind, values } = begin;
  const heldUpTo = Math.max(last, reader.behind.get(topic)?.heldUpTo ?? 0);
  if (after < heldUpTo || (values?.length ?? 0) > 0)
    reader.behind.set(topic, { epoch, after, heldUpTo, pastUpTo: last, kind, values });
  else reader.behind.delete(topic);
}

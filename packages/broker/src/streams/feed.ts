import { ReasonCode } from '@apus/mqtt';
import type { Context } from '../context.ts';
import { deliver } from '../deliver/deliver.ts';
import { route } from '../deliver/route.ts';
import { type Flow, run, waitFor } from '../model/flow.ts';
import type { Reader } from '../model/session.ts';
import type { StreamDeclaration } from '../model/stream-declaration.ts';
import type { Place } from '../model/stream-feed.ts';
import type { StreamEntry, StreamTopicTail } from '../ports/index.ts';
import { disconnectFor } from '../reply.ts';
import { liveReaders, streamOf } from './append.ts';

import { placedMessage } from './position.ts';
import { StreamReader } from './reader.ts';

/** Entries that are read at a time if some have not arrived. */
const PAGE = { messages: 100, bytes: 1024 * 1024 };

const OVERTAKEN =
  'messages of a stream that this client has not been sent are not kept any more: subscribe again';

/** Sends the entry to the readers of this process, in order and once, whichever process has appended it. */
export function* feed(context: Context, tenant: string, entry: StreamEntry): Flow<void> {
  const all = context.ports.streams?.feed;
  const { topic } = entry.message;
  if (all === undefined) return;
  const readers = all.readers(tenant, topic);
  all.sweep();
  let place = all.find(tenant, topic);
  if (readers.length === 0 && place?.reading === undefined) {
    if (place !== undefined) all.forget(place);
    return;
  }
  if (place === undefined) {
    // Readers that have begun know the existing topics: this topic is new, or no reader has begun.
    const isNext = entry.number === 1 || !readers.some(({ reader }) => hasBegun(reader));
    place = all.open(tenant, topic, entry.epoch, isNext ? entry.number - 1 : 0);
  }
  if (place.epoch !== entry.epoch) place.isUnsure = true;
  else if (entry.number <= place.last) return;
  else if (place.reading === undefined && entry.number === place.last + 1) {
    place.last = entry.number;
    place.upTo = Math.max(place.upTo, entry.number);
    return yield* give(context, tenant, entry);
  } else place.upTo = Math.max(place.upTo, entry.number);
  void read(context, place);
}

/**
 * The reader has found the ends of these topics. Resolves when the other readers have been sent as much: a joining
 * reader is live from the end that it has found.
 */
export function* reach(
  context: Context,
  tenant: string,
  joining: Reader,
  tails: readonly StreamTopicTail[],
): Flow<void> {
  const all = context.ports.streams?.feed;
  if (all === undefined) return;
  const waiting: Promise<void>[] = [];
  for (const { topic, epoch, last } of tails) {
    const others = all.readers(tenant, topic).filter(({ reader }) => reader !== joining);
    let place = all.find(tenant, topic);
    if (place === undefined) {
      const isNew = others.some(({ reader }) => hasBegun(reader));
      place = all.open(tenant, topic, epoch, isNew ? 0 : last);
    }
    if (place.epoch !== epoch) place.isUnsure = true;
    else if (place.last >= last) continue;
    else {
      place.upTo = Math.max(place.upTo, last);
      if (others.length === 0 && place.reading === undefined) place.last = last;
    }
    if (place.isUnsure || place.last < place.upTo) waiting.push(read(context, place));
  }
  for (const reading of waiting) yield reading;
}

/**
 * A reader is about to begin: it reads what it would miss. A place that was opened since it began to look for the ends
 * of topics may be ahead of the ends that it has found:
 *
 *     reader 1                reader 2                  the topic's place
 *     finds no message
 *                             finds message 1           opened: 1 has been given
 *     begins behind 0                                   1 arrives: has been given already
 */
export function holdGiven(
  { ports: { streams } }: Context,
  tenant: string,
  joining: StreamReader,
  tails: readonly StreamTopicTail[],
  sinceOpening: number,
): void {
  const all = streams?.feed;
  if (all === undefined || all.openings === sinceOpening) return;
  const found = new Map(tails.map((tail) => [tail.topic, tail]));
  for (const { topic, epoch, last } of all.openedSince(tenant, sinceOpening)) {
    const tail = found.get(topic);
    const after = tail?.last ?? 0;
    if (last <= after || (tail !== undefined && tail.epoch !== epoch)) continue;
    if (all.readers(tenant, topic).some(({ reader }) => reader === joining))
      joining.holdUpTo(topic, epoch, after, last);
  }
}

function hasBegun(reader: Reader): boolean {
  return !(reader instanceof StreamReader) || !reader.isJoining;
}

/** Sends the next entry to live readers; a reader that is behind notes it. */
function* give(context: Context, tenant: string, entry: StreamEntry): Flow<void> {
  const matched = context.ports.streams?.feed?.matched(tenant, entry.message.topic) ?? [];
  const placed = placedMessage(entry);
  const deliveries = route(context, placed, matched, entry.message, true);
  yield* deliver(context, placed, liveReaders(context, { entry }, deliveries));
}

/** Reads the entries that have not arrived. One call at a time for each topic; other callers wait for it. */
function read(context: Context, place: Place): Promise<void> {
  if (place.reading !== undefined) return place.reading;
  const stream = streamOf(context, place.topic);
  if (stream === undefined) return Promise.resolve();
  place.reading = readMissing(context, stream, place);
  return place.reading;
}

async function readMissing(context: Context, stream: StreamDeclaration, place: Place): Promise<void> {
  try {
    // The rest does not belong to the call that found the gap.
    await Promise.resolve();
    await run(readOn(context, stream, place));
  } catch (error) {
    // The next entry tries again.
    context.ports.log.error('stream-not-read', { topic: place.topic, error: String(error) });
  }
}

function* readOn(context: Context, stream: StreamDeclaration, place: Place): Flow<void> {
  try {
    while (place.isUnsure || place.last < place.upTo) {
      if (place.isUnsure) yield* findEpoch(context, stream, place);
      else yield* readPage(context, stream, place);
    }
  } finally {
    // In the same turn as the comparison above: from here on the next entry is sent as it arrives.
    place.reading = undefined;
  }
}

function* findEpoch(context: Context, stream: StreamDeclaration, place: Place): Flow<void> {
  const { streams, clock } = context.ports;
  place.isUnsure = false;
  const tail = yield* waitFor(streams?.store.tail(place.tenant, stream, place.topic, clock.now()));
  if (tail === undefined || typeof tail === 'string')
    throw new Error(`the end of the log is not found: ${tail}`);
  // Otherwise a late entry of a former epoch has arrived.
  if (tail.epoch === place.epoch) return;
  place.epoch = tail.epoch;
  place.last = Math.min(place.last, tail.start ?? 0);
  place.upTo = tail.last;
}

function* readPage(context: Context, stream: StreamDeclaration, place: Place): Flow<void> {
  const { tenant, topic, epoch, last } = place;
  const limit = { ...PAGE, messages: Math.min(PAGE.messages, place.upTo - last) };
  const page = yield* waitFor(context.ports.streams?.store.read(tenant, topic, epoch, last, limit));
  if (page === 'lost') return yield* overtaken(context, stream, place);
  // The log ends here: entries that this process was told of, and that were never appended, are waited for no longer.
  if (page === undefined || page.length === 0) place.upTo = last;
  for (const entry of page ?? []) {
    place.last = entry.number;
    yield* give(context, tenant, entry);
  }
}

/** The epoch has ended, or entries are not kept any more: readers are told that they miss messages. */
function* overtaken(context: Context, stream: StreamDeclaration, place: Place): Flow<void> {
  const { tenant, topic, epoch, upTo } = place;
  yield* findEpoch(context, stream, place);
  if (place.epoch !== epoch) return;
  context.ports.log.error('stream-overtaken', { topic, after: place.last });
  place.last = upTo;
  const { connections } = context.ports;
  for (const { session, reader } of context.ports.streams?.feed?.readers(tenant, topic) ?? []) {
    // A reader that is behind or joins notes that it has to read up to there.
    if (!reader.takes(session, { epoch, number: upTo, message: { topic } }, connections)) continue;
    const disconnect =
      session.attachment && disconnectFor(session.attachment, ReasonCode.QuotaExceeded, OVERTAKEN);
    yield* waitFor(connections.close(reader.connectionId, disconnect));
  }
}

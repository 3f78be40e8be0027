import { ReasonCode } from '@apus/mqtt';
import type { Context } from '../context.ts';
import { deliver } from '../deliver.ts';
import { type Flow, finish, run, waitFor } from '../flow.ts';
import type { MatchedFilter, StreamEntry, StreamTopicTail } from '../ports/index.ts';
import { route } from '../route.ts';
import type { SessionRef } from '../session.ts';
import { liveReaders, streamOf } from './append.ts';
import type { StreamDeclaration } from './declaration.ts';
import { placedMessage } from './position.ts';
import { isOnItsConnection, type Reader, StreamReader } from './reader.ts';

/** Entries that are read at a time if some have not arrived. */
const PAGE = { messages: 100, bytes: 1024 * 1024 };

/** Places looked at for each arriving entry: places without readers are deleted as fast as new ones are made. */
const SWEEP_LENGTH = 2;

const OVERTAKEN =
  'messages of a stream that this client has not been sent are not kept any more: subscribe again';

/** The matching filters that have subscribers in this process. Valid in the turn of the call. */
export type MatchHere = (tenant: string, topic: string) => readonly MatchedFilter[];

/** How far the readers of this process have been sent the log of one topic. */
interface Place {
  readonly tenant: string;
  readonly topic: string;
  /** Which one of the places that this process has opened. */
  readonly opening: number;
  epoch: string;
  /** Number of the last entry that readers were sent. */
  last: number;
  /** The highest number that is known to exist. */
  upTo: number;
  /** An entry of another epoch has come. */
  isUnsure: boolean;
  /** Set while entries are read that have not arrived. */
  reading: Promise<void> | undefined;
}

/**
 * For processes that append to one log, and hand messages to each other: keeps the position of this process in each
 * topic that one of its clients reads. An entry goes to live readers when all entries before it have gone:
 *
 *     process A                  process B                  this one, which has given 4 to its readers
 *     appends 5                  appends 6
 *                                hands 6 over               6: waits. Reads behind 4: 5 and 6 go to the readers
 *     hands 5 over                                          5: has been sent already
 */
export class StreamFeed {
  readonly #matchHere: MatchHere;
  readonly #places = new Map<string, Place>();
  #sweep: Iterator<Place> = [].values();
  #openings = 0;

  constructor(matchHere: MatchHere) {
    this.#matchHere = matchHere;
  }

  /** How many topics it follows. */
  get size(): number {
    return this.#places.size;
  }

  /** Places that it has opened. */
  get openings(): number {
    return this.#openings;
  }

  /** The open places of a tenant that were opened behind so many others. */
  openedSince(tenant: string, openings: number): Place[] {
    return [...this.#places.values()].filter((place) => place.opening > openings && place.tenant === tenant);
  }

  find(tenant: string, topic: string): Place | undefined {
    return this.#places.get(nameOf(tenant, topic));
  }

  open(tenant: string, topic: string, epoch: string, last: number): Place {
    this.#openings += 1;
    const own = { tenant, topic, opening: this.#openings };
    const place = { ...own, epoch, last, upTo: last, isUnsure: false, reading: undefined };
    this.#places.set(nameOf(tenant, topic), place);
    return place;
  }

  forget({ tenant, topic }: Place): void {
    this.#places.delete(nameOf(tenant, topic));
  }

  /** The matching filters with subscribers in this process, readers or not. */
  matched(tenant: string, topic: string): readonly MatchedFilter[] {
    return this.#matchHere(tenant, topic).filter(({ shareGroup }) => shareGroup === undefined);
  }

  /** The readers of this process that are on their connections. */
  readers(tenant: string, topic: string): ReadBy[] {
    const found: ReadBy[] = [];
    for (const { subscribers } of this.matched(tenant, topic))
      for (const { session, subscription } of subscribers) {
        const { reader } = subscription;
        if (reader !== undefined && isOnItsConnection(reader, session)) found.push({ session, reader });
      }
    return found;
  }

  /** Deletes some places without readers. */
  sweep(): void {
    for (let left = SWEEP_LENGTH; left > 0; left -= 1) {
      const next = this.#sweep.next();
      if (next.done) {
        this.#sweep = this.#places.values();
        return;
      }
      const { tenant, topic, reading } = next.value;
      if (reading === undefined && this.readers(tenant, topic).length === 0) this.forget(next.value);
    }
  }
}

function nameOf(tenant: string, topic: string): string {
  return `${tenant}\0${topic}`;
}

/** A reader of this process, and its session. */
interface ReadBy {
  readonly session: SessionRef;
  readonly reader: Reader;
}

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
  yield* finish(deliver(context, placed, liveReaders(context, { entry }, route(context, placed, matched))));
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
    const properties = { reasonString: OVERTAKEN };
    const disconnect = { type: 'disconnect', reasonCode: ReasonCode.QuotaExceeded, properties } as const;
    yield* waitFor(connections.close(reader.connectionId, disconnect));
  }
}

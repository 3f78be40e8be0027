import { type Flow, waitFor } from '../model/flow.ts';
import type { PastRoom } from '../model/link.ts';
import { messageBytes } from '../model/page.ts';
import type { StreamDeclaration } from '../model/stream-declaration.ts';
import type { StreamEntry, StreamTopicTail } from '../ports/index.ts';
import type { StreamStore } from '../ports/streams.ts';

import type { StreamKind } from './position.ts';

/** Topics whose past one SUBSCRIBE may ask for if SUBACK brings the past: each costs a read. */
export const TOPICS_AT_ONCE_MAX = 100;

const ALL = { messages: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };

/** A message of the past. */
export interface Past {
  readonly entry: StreamEntry;
  readonly kind: StreamKind;
}

interface Read {
  readonly past: readonly Past[];
  /** It is everything that should be read. */
  readonly isWhole: boolean;
}

/**
 * Reads all past messages of a topic that a reader should be sent, up to `tail`; after that the reader is live. If
 * there is not room for all, reads the newest messages; if messages would be missing after the client's position, only
 * the last one.
 */
export function* readAtOnce(
  reading: Reading,
  tail: StreamTopicTail,
  { after = tail.last, kind = 'historical', hasValues }: Begin,
  room: PastRoom,
): Flow<Read> {
  if (hasValues) return yield* newestValues(reading, tail, room);
  const { last } = tail;
  const isTooLong = last - after > room.messages;
  if (isTooLong && kind === 'recovered') return yield* lastAlone(reading, tail, room);
  const from = isTooLong ? last - room.messages : after;
  const entries = yield* readUpTo(reading, tail, from, room.bytes);
  if (entries === undefined) return yield* lastAlone(reading, tail, room);
  take(room, entries);
  return { past: entries.map((entry) => ({ entry, kind })), isWhole: !isTooLong };
}

/** Undefined: they are too large, or not kept any more. */
function* readUpTo(
  { store, tenant }: Reading,
  { topic, epoch, last }: StreamTopicTail,
  after: number,
  bytesMax: number,
): Flow<readonly StreamEntry[] | undefined> {
  const entries: StreamEntry[] = [];
  let bytes = bytesMax;
  for (let at = after; at < last; at = entries.at(-1)?.number ?? last) {
    const page = yield* waitFor(store.read(tenant, topic, epoch, at, { messages: last - at, bytes }));
    if (page === 'lost' || page.length === 0) return undefined;
    bytes -= bytesOf(page);
    // A page has its first message even if that exceeds the limit.
    if (bytes < 0) return undefined;
    entries.push(...page);
  }
  return entries;
}

function* lastAlone(reading: Reading, tail: StreamTopicTail, room: PastRoom): Flow<Read> {
  const entries = room.messages < 1 ? [] : yield* readUpTo(reading, tail, tail.last - 1, room.bytes);
  take(room, entries ?? []);
  return { past: (entries ?? []).map((entry) => ({ entry, kind: 'snapshot' })), isWhole: false };
}

function* newestValues(
  { store, tenant, stream, nowMs }: Reading,
  tail: StreamTopicTail,
  room: PastRoom,
): Flow<Read> {
  const values = yield* waitFor(store.lastValues(tenant, stream, tail, 0, ALL, nowMs));
  if (values === 'lost') return { past: [], isWhole: false };
  let first = values.length;
  let bytes = room.bytes;
  while (first > 0 && values.length - first < room.messages) {
    bytes -= bytesOf(values.slice(first - 1, first));
    if (bytes < 0) break;
    first -= 1;
  }
  const entries = values.slice(first);
  take(room, entries);
  return { past: entries.map((entry) => ({ entry, kind: 'snapshot' })), isWhole: first === 0 };
}

function take(room: PastRoom, entries: readonly StreamEntry[]): void {
  room.messages -= entries.length;
  room.bytes -= bytesOf(entries);
}

function bytesOf(entries: readonly StreamEntry[]): number {
  return entries.reduce((sum, { message }) => sum + messageBytes(message), 0);
}

/** Where a reader begins in one topic. Without `after` it is live at once. */
export interface Begin {
  readonly isRecovered: boolean;
  readonly after?: number;
  readonly kind?: StreamKind;
  /** The last values come in the place of messages. */
  readonly hasValues?: true;
}

/** The parameters of one join. */
export interface Reading {
  readonly store: StreamStore;
  readonly tenant: string;
  readonly stream: StreamDeclaration;
  readonly nowMs: number;
  /** Messages arrive in order: the reader has seen every message up to its last one. */
  readonly isOrdered: boolean;
  /** For which a topic is opened. */
  readonly holder: string | undefined;
}

import { ENTRIES_AT_ONCE_MAX, ENTRIES_MAX, FIRST_BATCH_BYTES_MAX, RECORD_BYTES_MAX } from '../limits.ts';
import { isPlaced } from './completed.ts';
import { namesDequeued, placesTaken, recordBytes, withEntry } from './entries.ts';
import type { Copy, Decision, Effect, Entry, Offer, QueueRecord } from './types.ts';

/**
 * A publisher offers messages to the session. Those that fit get places in their order, and the publisher posts them
 * when the record is written. It appends the others to the log when the post has left.
 */
export function offerCopies(record: QueueRecord, offer: Offer): Decision {
  if (record.hasEnded) return { record, effects: [{ type: 'refuse', reason: 'ended' }] };
  const known = offer.copies.map((copy) => knownFate(record, copy));
  if (known.includes('uncertain') && record.connectionId !== undefined)
    return { record, effects: [{ type: 'end-connection', connectionId: record.connectionId }] };
  const copies = offer.copies.filter((_copy, place) => known[place] === 'new');
  const isOneInLog = known.includes('in-log');
  // Messages of this publisher in the log are older: a post would overtake them.
  const count = isOneInLog ? 0 : countThatFits(record, offer, copies);
  const taken = take(record, offer, copies.slice(0, count));
  return { record: taken.record, effects: [...taken.effects, ...wait(copies.slice(count), isOneInLog)] };
}

/**
 * The fate of a copy in an earlier run of the same fan-out, as the record knows it. `uncertain`: a publisher has taken
 * a place for it, and may have posted it, be about to post it, or have died. A second PUBLISH under its packet id
 * could be taken for another message, or exceed the Receive Maximum; so the connection is closed, and the next one is
 * sent the message again.
 */
function knownFate(record: QueueRecord, copy: Copy): 'new' | 'uncertain' | 'placed' | 'in-log' {
  const entry = record.entries.find(({ name }) => name === copy.name);
  if (entry !== undefined) return isUncertain(entry) ? 'uncertain' : 'placed';
  if (copy.isInLog) return 'in-log';
  return copy.qos === 2 && isPlaced(record, copy.name, copy.wasPlaced) ? 'placed' : 'new';
}

/** A publisher has taken a place for it; whether it has posted the message is unknown. */
export function isUncertain({ kind, phase }: Entry): boolean {
  return kind === 'push' && phase === 'sent';
}

function take(record: QueueRecord, { untilMs }: Offer, copies: readonly Copy[]): Decision {
  if (copies.length === 0) return { record, effects: [] };
  const effects: Effect[] = [];
  let taken: QueueRecord = { ...record, mode: 'direct', untilMs: Math.max(record.untilMs, untilMs) };
  for (const { name, qos, body, bytes } of copies) {
    const place = { kind: 'push', phase: 'sent', isCounted: true } as const;
    const next = withEntry(taken, { name, qos, ...place, body, bytes });
    taken = next.record;
    effects.push({ type: 'publish', entry: next.entry, isDup: false });
  }
  return { record: taken, effects };
}

function wait(copies: readonly Copy[], isOneInLog: boolean): Effect[] {
  if (copies.length > 0) return [{ type: 'append', names: copies.map(({ name }) => name) }];
  return isOneInLog ? [{ type: 'look' }] : [];
}

function countThatFits(record: QueueRecord, offer: Offer, copies: readonly Copy[]): number {
  if (!mayGoDirectly(record, offer)) return 0;
  const places = record.receiveMaximum - placesTaken(record);
  const room = Math.min(places, ENTRIES_MAX - record.entries.length, ENTRIES_AT_ONCE_MAX);
  let count = Math.max(0, Math.min(copies.length, room));
  while (count > 0 && !hasBytesFor(record, copies.slice(0, count))) count -= 1;
  return count;
}

/**
 * In mode closing a publisher posts only if the last page has arrived and the log, read after the record, holds nothing
 * new: otherwise the post would overtake the reply, or messages that wait.
 */
function mayGoDirectly(record: QueueRecord, { log }: Offer): boolean {
  if (record.connectionId === undefined) return false;
  if (record.mode !== 'closing') return record.mode === 'direct';
  const dequeued = namesDequeued(record);
  return record.awaits === 0 && log.every((name) => dequeued.has(name));
}

/** Names of completed exchanges do not count, as the record can forget them: see `forgetting`. */
function hasBytesFor({ entries }: QueueRecord, copies: readonly Copy[]): boolean {
  const added = copies.map(({ body, bytes }) => ({ body, bytes }));
  const size = recordBytes({ entries: [...entries, ...added], completed: [] });
  return size <= (entries.length === 0 ? FIRST_BATCH_BYTES_MAX : RECORD_BYTES_MAX);
}

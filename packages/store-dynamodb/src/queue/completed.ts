import { COMPLETED_BYTES_KEPT, COMPLETED_BYTES_MAX, LATE_NAMES_MAX, RECORD_BYTES_MAX } from '../limits.ts';
import { completedBytes, namesDequeued, recordBytes } from './entries.ts';
import type { Entry, LogItem, QueueRecord } from './types.ts';

/*
 * Decides whether a copy at QoS 2 was placed before, so that no session is sent it twice. A fan-out is repeated under
 * the same message id when the publisher sends a PUBLISH again whose first handler died, or when SQS hands a worker's
 * job out again. Both runs may be at work at once. So the record has to know a copy for as long as its fan-out may be
 * repeated, also after its exchange is complete and its packet id belongs to another message.
 *
 * The record knows its copies by their names. A copy gets a packet id by a write of the record and in no other way, and
 * that write is conditional on the version in which the writer has looked for the name. An append to the log does not
 * look: it may bring a copy that has a packet id already, and the next page deletes it there:
 *
 *     fan-out A                          fan-out B, the same message        client
 *                                        reads the record: backlog
 *     reads the record: direct by now
 *     takes a place, posts
 *                                                                           PUBREC, PUBCOMP: the record notes the name
 *                                        appends, looks, nudges
 *                                                                           fetches: the name is known, the item is deleted
 *
 * A record is one small item. When it has too many names it forgets the oldest ones: the same transaction writes these
 * into an item of their own (`forgotten.ts`). `forgottenTo` is the newest forgotten name. A name after it is in the
 * record, or its copy was never placed; for a name up to it the forgotten names have to be read.
 */

/** First characters of a copy's index where the record keeps no name: see `indexOfCopy`. */
const NOT_KEPT = ['~', '$'];

/** Whether a repetition of the fan-out offers the copy under the same name and to the same session. */
export function isRepeatable(name: string): boolean {
  return !NOT_KEPT.includes(name[name.indexOf('\0') + 1] ?? '');
}

/** The record after the exchange of an entry is complete. */
export function withoutEntry(record: QueueRecord, entry: Entry): QueueRecord {
  const entries = record.entries.filter((each) => each !== entry);
  if (entry.qos !== 2 || !isRepeatable(entry.name)) return { ...record, entries };
  return { ...record, entries, completed: [...record.completed, entry.name] };
}

/** Whether the copy has a packet id, or had one. `isForgotten`: its name is among the forgotten ones. */
export function isPlaced(record: QueueRecord, name: string, isForgotten: boolean): boolean {
  return isForgotten || record.completed.includes(name) || record.entries.some((each) => each.name === name);
}

/** The messages of the log that have no packet id, and had none. */
export function newOf(record: QueueRecord, items: readonly LogItem[]): readonly LogItem[] {
  const dequeued = namesDequeued(record);
  return items.filter(({ name, qos, wasPlaced = false }) => {
    return !dequeued.has(name) && !(qos === 2 && isPlaced(record, name, wasPlaced));
  });
}

/** The record cannot tell whether the copy was placed: the forgotten names have to be read. */
export function mayBeForgotten(record: QueueRecord, name: string): boolean {
  return name <= record.forgottenTo && isRepeatable(name) && !isPlaced(record, name, false);
}

/** A record without the names that it forgets, and these names, which the same transaction writes. */
export interface Forgetting {
  readonly record: QueueRecord;
  /** Names after all that were forgotten before, in their order. */
  readonly page: readonly string[];
  /** Names before the newest forgotten one. */
  readonly late: readonly string[];
}

export interface CompletedLimits {
  /** Bytes of completed names above which a record forgets some. */
  readonly bytesMax: number;
  /** Bytes of the newest names, which it then keeps. */
  readonly bytesKept: number;
}

export const COMPLETED_LIMITS: CompletedLimits = {
  bytesMax: COMPLETED_BYTES_MAX,
  bytesKept: COMPLETED_BYTES_KEPT,
};

/** Undefined: the record need not forget, and is written as it is. */
export function forgetting(record: QueueRecord, limits: CompletedLimits): Forgetting | undefined {
  const bytes = completedBytes(record.completed);
  const isTooLarge = bytes > 2 * limits.bytesKept && recordBytes(record) > RECORD_BYTES_MAX;
  if (bytes <= limits.bytesMax && !isTooLarge) return undefined;
  const names = record.completed.toSorted();
  const late = names.filter((name) => name <= record.forgottenTo).slice(0, LATE_NAMES_MAX);
  const others = names.slice(late.length);
  if (late.length === LATE_NAMES_MAX) return { record: { ...record, completed: others }, page: [], late };
  const page: string[] = [];
  while (completedBytes(others) > limits.bytesKept) page.push(others.shift() ?? '');
  const forgottenTo = page.at(-1) ?? record.forgottenTo;
  return { record: { ...record, completed: others, forgottenTo }, page, late };
}

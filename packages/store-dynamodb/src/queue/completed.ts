import {
  COMPLETED_BYTES_KEPT,
  COMPLETED_BYTES_MAX,
  completedBytes,
  namesDequeued,
  RECORD_BYTES_MAX,
  recordBytes,
} from './entries.ts';
import type { Entry, LogItem, QueueRecord } from './types.ts';

/*
 * A fan-out may be repeated under the same message id: the publisher sends a PUBLISH again after its first handling died, a
 * worker's slice comes again, or both runs happen at once. So a copy at QoS 2 has to be known for as long as that may
 * happen, also when its exchange is complete and its packet id belongs to another message.
 *
 * The record knows its copies by their names, and only a write of the record gives a copy a packet id: its writer has seen,
 * under the version that it replaces, whether the copy had one before. The log knows nothing of it. An append may
 * bring a copy that has been placed already, and the dequeue drops it:
 *
 *     fan-out A                          fan-out B, the same message        client
 *                                        reads the record: backlog
 *     reads the record: direct by now
 *     takes a place, posts
 *                                                                           PUBREC, PUBCOMP: the record notes the name
 *                                        appends, looks, nudges
 *                                                                           fetches: the name is known, the item is deleted
 *
 * A record is one small item. When it has too many names it forgets the oldest ones, and the same transaction writes them
 * into an item of their own: see `forgotten.ts`. `forgottenTo` says up to which name that is so: names behind it are in
 * the record, or were never placed.
 */

/** Names for which the record keeps no memory. See `indexOfCopy`. */
const NOT_KEPT = ['~', '$'];

/** A repetition of the fan-out offers the copy under the same name, and to the same session. */
export function isRepeatable(name: string): boolean {
  return !NOT_KEPT.includes(name[name.indexOf('\0') + 1] ?? '');
}

/** The exchange of an entry is over. */
export function withoutEntry(record: QueueRecord, entry: Entry): QueueRecord {
  const entries = record.entries.filter((each) => each !== entry);
  if (entry.qos !== 2 || !isRepeatable(entry.name)) return { ...record, entries };
  return { ...record, entries, completed: [...record.completed, entry.name] };
}

/** The record, or what it has forgotten, knows the copy: it has, or had, a packet id. */
export function isPlaced(record: QueueRecord, name: string, isForgotten: boolean): boolean {
  return isForgotten || record.completed.includes(name) || record.entries.some((each) => each.name === name);
}

/** Of the messages of the log those that have no packet id, and had none. */
export function newOf(record: QueueRecord, items: readonly LogItem[]): readonly LogItem[] {
  const dequeued = namesDequeued(record);
  return items.filter(({ name, qos, isRemembered = false }) => {
    return !dequeued.has(name) && !(qos === 2 && isPlaced(record, name, isRemembered));
  });
}

/** The record does not know whether the copy was placed: what it has forgotten has to be read. */
export function isInDoubt(record: QueueRecord, name: string): boolean {
  return name <= record.forgottenTo && isRepeatable(name) && !isPlaced(record, name, false);
}

/** A record that has forgotten names, and these, which are to be written with it. */
export interface Forgetting {
  readonly record: QueueRecord;
  /** Behind all that was forgotten before, in their order. */
  readonly page: readonly string[];
  /** Older than what was forgotten before. */
  readonly late: readonly string[];
}

export interface CompletedLimits {
  /** Bytes of names that a record may have. */
  readonly bytesMax: number;
  /** Of the newest names, which it keeps when it forgets the others. */
  readonly bytesKept: number;
}

export const COMPLETED_LIMITS: CompletedLimits = {
  bytesMax: COMPLETED_BYTES_MAX,
  bytesKept: COMPLETED_BYTES_KEPT,
};

/** Late names that are forgotten at once: each is an item of the transaction, which takes a hundred. */
const LATE_MAX = 50;

/** Undefined: the record may be written as it is. */
export function forgetting(record: QueueRecord, limits: CompletedLimits): Forgetting | undefined {
  const bytes = completedBytes(record.completed);
  const isCrowded = bytes > 2 * limits.bytesKept && recordBytes(record) > RECORD_BYTES_MAX;
  if (bytes <= limits.bytesMax && !isCrowded) return undefined;
  const names = record.completed.toSorted();
  const late = names.filter((name) => name <= record.forgottenTo).slice(0, LATE_MAX);
  const others = names.slice(late.length);
  if (late.length === LATE_MAX) return { record: { ...record, completed: others }, page: [], late };
  const page: string[] = [];
  while (completedBytes(others) > limits.bytesKept) page.push(others.shift() ?? '');
  const forgottenTo = page.at(-1) ?? record.forgottenTo;
  return { record: { ...record, completed: others, forgottenTo }, page, late };
}

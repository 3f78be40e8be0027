import { KEPT_PACKET_ID_MAX } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import type { Body, Entry, QueueRecord } from './types.ts';

/** Entries of a record: each takes some 28 bytes of an item that every write is billed for. */
export const ENTRIES_MAX = 1_024;

/**
 * Entries that one write adds: each of QoS 2 for a share group is written with a deduplication record of its own, and a
 * transaction has a hundred items.
 */
export const ENTRIES_AT_ONCE_MAX = 99;

/** Up to this size a record costs one write unit; with what would make it larger a publisher appends. */
export const RECORD_BYTES_MAX = 1_024;

/** One batch may make an empty record this large: the write costs as much as its messages would cost in the log. */
export const FIRST_BATCH_BYTES_MAX = 8_192;

/** Names of completed exchanges that a record has before it forgets the oldest ones: some 28. */
export const COMPLETED_BYTES_MAX = 560;

/** Of the names that it keeps then: some five. A message that is a little late is newer than what was forgotten. */
export const COMPLETED_BYTES_KEPT = 100;

/** Of a name, deflated, for each of its characters. */
const NAME_BYTES = 0.62;

/** Acknowledgements that a record has noted before one reads it, and writes what they make of it. */
export const NOTED_MAX = 32;

/** Of a record beside its entries. */
export const RECORD_OVERHEAD_BYTES = 190;

/** Of an entry beside its message, deflated. */
export const ENTRY_BYTES = 28;

/** Places of the window that are taken [MQTT-4.9.0-2]. */
export function placesTaken({ entries }: QueueRecord): number {
  return entries.reduce((count, { isCounted }) => count + (isCounted ? 1 : 0), 0);
}

/** Of its item, about. */
export function recordBytes({
  entries,
  completed,
}: {
  readonly entries: readonly Pick<Entry, 'body' | 'bytes'>[];
  readonly completed: readonly string[];
}): number {
  const begun = RECORD_OVERHEAD_BYTES + completedBytes(completed);
  return entries.reduce((sum, entry) => sum + entryBytes(entry), begun);
}

export function completedBytes(completed: readonly string[]): number {
  return completed.reduce((sum, name) => sum + Math.ceil(name.length * NAME_BYTES), 0);
}

function entryBytes({ body, bytes }: Pick<Entry, 'body' | 'bytes'>): number {
  return ENTRY_BYTES + (body === 'inline' ? bytes : 0);
}

/**
 * The names whose items in the log are not new. An entry that a publisher took does not hide the log's copy: the publisher
 * may have died before its post, and a second worker may have appended the message.
 */
export function namesDequeued({ entries }: QueueRecord): ReadonlySet<string> {
  return new Set(entries.filter(({ body }) => body === 'log').map(({ name }) => name));
}

/**
 * Packet ids run in a circle. Any free id is right within one connection, as nothing is posted twice on it; the circle
 * keeps a client whose session moves to another connection from meeting an id again soon. An odd one says that the message
 * is not in the log: see `isOutsideLog`.
 */
export function nextPacketId(
  { lastPacketId, entries }: Pick<QueueRecord, 'lastPacketId' | 'entries'>,
  body: Body,
): PacketId {
  const inUse = new Set(entries.map(({ packetId }) => packetId));
  let packetId = lastPacketId;
  do packetId = (packetId % KEPT_PACKET_ID_MAX) + 1;
  while (isOutsideLog(packetId) === (body === 'log') || inUse.has(packetId));
  return packetId;
}

/** Nothing has to be deleted from the log before the message of this packet id counts as acknowledged. */
export function isOutsideLog(packetId: PacketId): boolean {
  return packetId % 2 === 1;
}

/** One entry more, under a packet id of its own. */
export function withEntry(
  record: QueueRecord,
  fields: Omit<Entry, 'packetId'>,
): { readonly record: QueueRecord; readonly entry: Entry } {
  const entry = { packetId: nextPacketId(record, fields.body), ...fields };
  return {
    record: { ...record, lastPacketId: entry.packetId, entries: [...record.entries, entry] },
    entry,
  };
}

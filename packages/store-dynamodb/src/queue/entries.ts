import { KEPT_PACKET_ID_MAX } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import type { Body, Entry, QueueRecord } from './types.ts';

/** Bytes that one character of a name takes, deflated. */
const NAME_BYTES = 0.62;

/** Bytes of a record beside its entries. */
export const RECORD_OVERHEAD_BYTES = 190;

/** Bytes of an entry beside its message, deflated. */
export const ENTRY_BYTES = 28;

/** Places of the window that are taken [MQTT-4.9.0-2]. */
export function placesTaken({ entries }: QueueRecord): number {
  return entries.reduce((count, { isCounted }) => count + (isCounted ? 1 : 0), 0);
}

/** About how many bytes the item of the record has. */
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
 * The names whose items in the log are not new. An entry that a publisher placed does not hide the copy in the log: the
 * publisher may have died before its post, and a second worker may have appended the message.
 */
export function namesDequeued({ entries }: QueueRecord): ReadonlySet<string> {
  return new Set(entries.filter(({ body }) => body === 'log').map(({ name }) => name));
}

/**
 * Packet ids run in a circle. Any free id is right within one connection, as nothing is posted twice on it. The circle
 * makes it unlikely that a client whose session moves to another connection soon meets an id again. An odd id says
 * that the message is not in the log: see `isOutsideLog`.
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

/** The message of this packet id is not in the log: nothing has to be deleted there when it is acknowledged. */
export function isOutsideLog(packetId: PacketId): boolean {
  return packetId % 2 === 1;
}

/** The record with one more entry, which gets the next packet id. */
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

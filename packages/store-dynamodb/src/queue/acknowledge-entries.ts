import type { Acknowledged } from '@apus/broker';
import { withoutEntry } from './completed.ts';
import type { Acknowledgement, Body, Decision, Effect, Entry, QueueRecord } from './types.ts';

/** Applies the acknowledgements of one frame, in their order. */
export function acknowledgeEntries(
  record: QueueRecord,
  acknowledgements: readonly Acknowledgement[],
): Decision {
  let acknowledged = record;
  const effects: Effect[] = [];
  for (const each of acknowledgements) {
    const entry = entryFor(acknowledged, each);
    if (entry === undefined || judge(entry, each) !== 'done') continue;
    effects.push(...effectsOf(entry, each));
    acknowledged = changed(acknowledged, entry, each);
  }
  return { record: acknowledged, effects };
}

/** The store's answer to an acknowledgement of the record's connection. */
export function acknowledgedAs(record: QueueRecord, acknowledgement: Acknowledgement): Acknowledged {
  const entry = entryFor(record, acknowledgement);
  return entry === undefined ? 'unknown' : judge(entry, acknowledgement);
}

/** The page, or the push, has arrived: a later post cannot overtake the reply any more. */
export function arrived(record: QueueRecord): QueueRecord {
  return { ...record, awaits: 0, mode: record.mode === 'closing' ? 'direct' : record.mode };
}

function entryFor({ entries }: QueueRecord, { packetId }: Acknowledgement): Entry | undefined {
  // The client cannot answer a message that it has not been sent on this connection.
  return entries.find((entry) => entry.packetId === packetId && isUnderWay(entry));
}

function isUnderWay({ phase }: Entry): boolean {
  return phase === 'sent' || phase === 'pubrel-sent';
}

function judge({ qos, phase }: Entry, { packet }: Acknowledgement): Acknowledged {
  const isDone = {
    puback: qos === 1,
    pubrec: qos === 2,
    pubcomp: phase === 'pubrel-sent',
  }[packet];
  return isDone ? 'done' : 'out-of-place';
}

/**
 * The caller deletes the item of the log before it writes the record: if that write fails, an entry without a body
 * counts as acknowledged. At QoS 2 the caller deletes the item with PUBCOMP; until then the entry hides it. If it
 * deleted the item with PUBREC, and the write failed, the PUBREL would leave before the PUBRELs of older messages that
 * the same frame has acknowledged.
 */
function effectsOf({ name, body, packetId }: Entry, { packet }: Acknowledgement): Effect[] {
  if (packet === 'pubrec') return [{ type: 'pubrel', packetId }];
  return body === 'log' ? [{ type: 'delete', name }] : [];
}

function changed(record: QueueRecord, entry: Entry, { packet }: Acknowledgement): QueueRecord {
  const seen = record.awaits === entry.packetId ? arrived(record) : record;
  if (packet !== 'pubrec') return withoutEntry(seen, entry);
  const released: Entry = { ...entry, phase: 'pubrel-sent', body: bodyAfterPubrec(entry) };
  return { ...seen, entries: seen.entries.map((each) => (each === entry ? released : each)) };
}

/** PUBREC: the message is not sent again [MQTT-4.3.3-6]. Its item in the log stays until PUBCOMP. */
export function bodyAfterPubrec({ body }: Entry): Body {
  return body === 'log' ? 'log' : 'none';
}

import { acknowledgeEntries, arrived } from './acknowledge-entries.ts';
import { withoutEntry } from './completed.ts';
import { dequeuePage } from './dequeue-page.ts';
import { isUncertain, offerCopies } from './offer-copies.ts';
import type {
  Appended,
  Connect,
  Decision,
  DequeueAgain,
  Effect,
  Entry,
  Frame,
  GiveUp,
  Lost,
  QueueRecord,
  RecordEvent,
} from './types.ts';

/** The record of an incarnation before its first CONNECT. */
export const NEW_RECORD: QueueRecord = {
  epoch: 0,
  connectionId: undefined,
  receiveMaximum: 0,
  mode: 'closing',
  isFetching: false,
  awaits: 0,
  untilMs: 0,
  hasEnded: false,
  lastPacketId: 0,
  entries: [],
  completed: [],
  forgottenTo: '',
};

/** The model in `test/queue/` bundles this file, and takes `forgetting` from the same bundle. */
export { forgetting } from './completed.ts';

/**
 * The effect of an event on a session's record, and what the caller has to do next. A pure function: the caller writes
 * the new record on condition that the old one is still there.
 *
 * Three events need no read where there is a record: `Records.object`, `Records.lost` and `Records.end` update the
 * attributes that the events change here. `updates.test.ts` compares the two.
 */
export function decide(record: QueueRecord, event: RecordEvent): Decision {
  switch (event.type) {
    case 'connect':
      return connect(record, event);
    case 'offer':
      return offerCopies(record, event);
    case 'appended':
      return lookAfterAppending(record, event);
    case 'object':
      return object(record);
    case 'frame':
      return frame(record, event);
    case 'dequeue-again':
      return dequeueAgain(record, event);
    case 'lost':
      return lost(record, event);
    case 'end':
      return { record: { ...record, hasEnded: true }, effects: [] };
    case 'give-up':
      return giveUp(record, event);
  }
}

/**
 * A CONNECT that is late has a lower epoch, and is refused. The version alone would not stop it:
 *
 *     CONNECT(A), slow                   CONNECT(B), a take-over
 *                                        reads the record, writes it
 *     reads the record, writes it: A, whose connection has been ended, would have the session
 */
function connect(record: QueueRecord, { epoch, connectionId, receiveMaximum, dequeue }: Connect): Decision {
  if (record.epoch >= epoch) return refused(record, 'fence');
  if (record.hasEnded) return refused(record, 'ended');
  const entries = record.entries.map(toBeSentAgain);
  return closed(dequeuePage({ ...record, epoch, connectionId, receiveMaximum, entries }, dequeue));
}

/** Sent again on the next connection: the message with DUP, or the PUBREL [MQTT-4.4.0-1]. */
function toBeSentAgain(entry: Entry): Entry {
  if (entry.phase === 'sent') return { ...entry, phase: 'unsent', isCounted: false };
  if (entry.phase === 'pubrel-sent') return { ...entry, phase: 'pubrel-due', isCounted: false };
  return entry;
}

/**
 * A publisher has appended: will the client dequeue the message? If the client is fetching, yes; if there is no
 * connection, the next one will. If the last reply did not say that more waits, each publisher that appends nudges,
 * since the publisher that objected may have died. If another fan-out has placed the same copy at QoS 2 meanwhile, the
 * client will not dequeue it: that fan-out may have died before its post, so the connection is closed, as for an
 * offer.
 */
function lookAfterAppending(record: QueueRecord, { names }: Appended): Decision {
  const { hasEnded, connectionId, mode, isFetching, entries } = record;
  if (hasEnded) return { record, effects: [{ type: 'pass-on' }] };
  if (connectionId === undefined) return { record, effects: [] };
  if (entries.some((entry) => entry.qos === 2 && isUncertain(entry) && names.includes(entry.name)))
    return { record, effects: [{ type: 'end-connection', connectionId }] };
  if (mode !== 'backlog') return { record, effects: [{ type: 'object' }] };
  return { record, effects: isFetching ? [] : [{ type: 'nudge', connectionId }] };
}

/** Mode backlog: no publisher takes a place, and no frame closes, before the appended message is dequeued. */
function object(record: QueueRecord): Decision {
  const { connectionId, mode } = record;
  if (connectionId === undefined || mode === 'backlog') return { record, effects: [{ type: 'look' }] };
  return {
    record: { ...record, mode: 'backlog', isFetching: false, awaits: 0 },
    effects: [{ type: 'nudge', connectionId }],
  };
}

/** A frame that wants a reply comes after the previous reply has arrived, so the page of that reply has arrived. */
function frame(record: QueueRecord, { connectionId, acknowledgements, dequeue }: Frame): Decision {
  if (record.connectionId !== connectionId) return refused(record, 'another-connection');
  if (dequeue === undefined) return acknowledgeEntries(record, acknowledgements);
  if (record.mode !== 'backlog' && acknowledgements.length === 0)
    return { record, effects: [{ type: 'reply', isMoreWaiting: false }] };
  const acknowledged = acknowledgeEntries(
    record.mode === 'closing' ? arrived(record) : record,
    acknowledgements,
  );
  if (record.mode !== 'backlog') return withReply(acknowledged);
  const deleted = new Set(acknowledged.effects.flatMap((each) => (each.type === 'delete' ? each.name : [])));
  const items = dequeue.log.items.filter(({ name }) => !deleted.has(name));
  const dequeued = dequeuePage(acknowledged.record, { ...dequeue, log: { ...dequeue.log, items } });
  return closed({ record: dequeued.record, effects: [...acknowledged.effects, ...dequeued.effects] });
}

function dequeueAgain(record: QueueRecord, { connectionId, dequeue }: DequeueAgain): Decision {
  if (record.connectionId !== connectionId) return refused(record, 'another-connection');
  return closed(dequeuePage(record, dequeue));
}

function lost(record: QueueRecord, { connectionId }: Lost): Decision {
  if (record.connectionId !== connectionId) return { record, effects: [] };
  return { record: { ...record, connectionId: undefined }, effects: [] };
}

/**
 * If the mode waits for the acknowledgement of this message, it waits for that of the next message instead.
 */
function giveUp(record: QueueRecord, { packetId }: GiveUp): Decision {
  const given = record.entries.findIndex((entry) => entry.packetId === packetId);
  const entry = record.entries[given];
  if (entry === undefined) return { record, effects: [] };
  const { name, body } = entry;
  const isOfPage = ({ kind, phase }: Entry) => kind === 'page' && phase === 'sent';
  const next = record.entries.slice(given + 1).find(isOfPage)?.packetId ?? 0;
  const awaits = record.awaits === packetId ? next : record.awaits;
  const effects: Effect[] = body === 'log' ? [{ type: 'delete', name }] : [];
  return { record: { ...withoutEntry(record, entry), awaits }, effects };
}

/** A frame that has found the log empty reads it once more: a publisher that has appended meanwhile relies on it. */
function closed(decision: Decision): Decision {
  const { record, effects } = decision;
  if (record.mode !== 'closing') return withReply(decision);
  return withReply({ record, effects: [...effects, { type: 'look-again' }] });
}

function withReply({ record, effects }: Decision): Decision {
  const isMoreWaiting = record.mode === 'backlog' && record.isFetching;
  return { record, effects: [...effects, { type: 'reply', isMoreWaiting }] };
}

function refused(record: QueueRecord, reason: 'fence' | 'another-connection' | 'ended'): Decision {
  return { record, effects: [{ type: 'refuse', reason }] };
}

import { KEPT_PACKET_ID_MAX } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { ENTRIES_MAX, FIRST_BATCH_BYTES_MAX } from '../../src/limits.ts';
import { acknowledgedAs } from '../../src/queue/acknowledge-entries.ts';
import { decide, NEW_RECORD } from '../../src/queue/decide.ts';
import { isOutsideLog, nextPacketId } from '../../src/queue/entries.ts';
import type { Copy, Decision, Dequeue, Effect, Entry, LogItem, QueueRecord } from '../../src/queue/types.ts';

const ONLINE: QueueRecord = {
  ...NEW_RECORD,
  epoch: 1,
  connectionId: 'A',
  receiveMaximum: 10,
  mode: 'direct',
};
const NOW_MS = 1_000;

const entry = (packetId: number, fields: Partial<Entry> = {}): Entry => ({
  packetId,
  name: `m${packetId}`,
  qos: 1,
  kind: 'page',
  phase: 'sent',
  isCounted: true,
  body: 'log',
  bytes: 10,
  ...fields,
});

const copy = (name: string, fields: Partial<Copy> = {}): Copy => ({
  name,
  qos: 1,
  body: 'inline',
  bytes: 10,
  isInLog: false,
  wasPlaced: false,
  ...fields,
});

const item = (name: string, fields: Partial<LogItem> = {}): LogItem => ({
  name,
  qos: 1,
  bytes: 10,
  ...fields,
});

const dequeuing = (items: readonly LogItem[], fields: Partial<Dequeue> = {}): Dequeue => ({
  log: { items, isComplete: true },
  limit: { messages: 10, bytes: 1_000 },
  nowMs: NOW_MS,
  firstOfReply: 0,
  ...fields,
});

const fetching = (record: QueueRecord, dequeue: Dequeue): Decision =>
  decide(
    { ...record, mode: 'backlog', isFetching: true },
    { type: 'frame', connectionId: 'A', acknowledgements: [], dequeue },
  );

const offering = (record: QueueRecord, ...copies: readonly Copy[]): Decision =>
  decide(record, { type: 'offer', copies, log: [], untilMs: 15_000 });

const types = ({ effects }: Decision): string[] => effects.map(({ type }) => type);

const published = ({ effects }: Decision): string[] =>
  effects.flatMap((effect: Effect) => (effect.type === 'publish' ? effect.entry.name : []));

describe('a publisher', () => {
  it('takes a place in the window, and posts', () => {
    const { record, effects } = offering(ONLINE, copy('m1'));
    expect(record).toMatchObject({ mode: 'direct', untilMs: 15_000, lastPacketId: 1 });
    expect(record.entries).toEqual([entry(1, { kind: 'push', body: 'inline' })]);
    expect(effects).toEqual([{ type: 'publish', entry: record.entries[0], isDup: false }]);
  });

  it('appends messages that do not fit the window, and posts the rest [MQTT-4.9.0-2]', () => {
    const decision = offering({ ...ONLINE, receiveMaximum: 1 }, copy('m1'), copy('m2'));
    expect(published(decision)).toEqual(['m1']);
    expect(decision.effects.at(-1)).toEqual({ type: 'append', names: ['m2'] });
  });

  it('appends messages that would make the record cost another write unit', () => {
    const full = { ...ONLINE, entries: [entry(1, { body: 'inline', bytes: 500 })] };
    expect(types(offering(full, copy('m2', { bytes: 500 })))).toEqual(['append']);
    expect(types(offering(full, copy('m2', { bytes: 200 })))).toEqual(['publish']);
  });

  it('puts one batch into an empty record that may be larger', () => {
    const large = copy('m1', { bytes: FIRST_BATCH_BYTES_MAX / 2 });
    expect(types(offering(ONLINE, large))).toEqual(['publish']);
    expect(types(offering(ONLINE, large, { ...large, name: 'm2' }))).toEqual(['publish', 'append']);
  });

  it('appends where the record has no place for an entry', () => {
    const entries = Array.from({ length: ENTRIES_MAX }, (_, place) =>
      entry(place + 1, { body: 'none', isCounted: false }),
    );
    expect(types(offering({ ...ONLINE, entries }, copy('m')))).toEqual(['append']);
  });

  it('is refused by a session that has ended', () => {
    const { record } = decide(ONLINE, { type: 'end' });
    expect(offering(record, copy('m1')).effects).toEqual([{ type: 'refuse', reason: 'ended' }]);
    expect(decide(record, { type: 'appended', names: ['m1'] }).effects).toEqual([{ type: 'pass-on' }]);
  });

  it('does nothing for a copy that a page has sent, or that is remembered', () => {
    expect(offering({ ...ONLINE, entries: [entry(1)] }, copy('m1')).effects).toEqual([]);
    expect(offering(ONLINE, copy('m1', { qos: 2, wasPlaced: true })).effects).toEqual([]);
  });
});

describe('a page', () => {
  it('sends unacknowledged messages again before new ones, with DUP and under the same packet ids [MQTT-4.4.0-1]', () => {
    const before = {
      ...ONLINE,
      entries: [entry(7), entry(5, { qos: 2, phase: 'pubrel-sent', body: 'none' })],
    };
    const decision = decide(before, {
      type: 'connect',
      epoch: 2,
      connectionId: 'B',
      receiveMaximum: 10,
      dequeue: dequeuing([item('m7'), item('m8')]),
    });
    expect(decision.effects).toMatchObject([
      { type: 'pubrel', packetId: 5 },
      { type: 'publish', entry: { packetId: 7 }, isDup: true },
      { type: 'publish', entry: { packetId: 2, name: 'm8' }, isDup: false },
      { type: 'look-again' },
      { type: 'reply', isMoreWaiting: false },
    ]);
    expect(decision.record).toMatchObject({ epoch: 2, connectionId: 'B', mode: 'closing', awaits: 7 });
  });

  it('lets no new message overtake one that is still to be sent again', () => {
    const unsent = { ...ONLINE, entries: [entry(1, { phase: 'unsent', isCounted: false, bytes: 900 })] };
    const log = [item('m1', { bytes: 900 }), item('m2')];
    const limit = { messages: 10, bytes: 1_000 };
    const first = {
      ...unsent,
      entries: [
        entry(9, { phase: 'unsent', isCounted: false, bytes: 900, body: 'inline' }),
        ...unsent.entries,
      ],
    };
    const decision = fetching(first, dequeuing(log, { limit }));
    expect(published(decision)).toEqual(['m9']);
    expect(decision.record).toMatchObject({ mode: 'backlog', isFetching: true });
  });

  it('does not conclude that a message behind those that were read is gone', () => {
    const unsent = { ...ONLINE, entries: [entry(3, { phase: 'unsent', isCounted: false })] };
    const decision = fetching(unsent, dequeuing([], { log: { items: [item('m1')], isComplete: false } }));
    expect(decision.record.entries).toEqual(unsent.entries);
    expect(decision.effects).toEqual([{ type: 'reply', isMoreWaiting: true }]);
  });

  it('deletes expired messages, and goes on behind them [MQTT-3.3.2-5]', () => {
    const decision = fetching(ONLINE, dequeuing([item('m1', { expiresAtMs: NOW_MS }), item('m2')]));
    expect(decision.effects[0]).toEqual({ type: 'delete', name: 'm1' });
    expect(published(decision)).toEqual(['m2']);
  });

  it('awaits the first message of the reply also where the second look finds nothing that may be sent', () => {
    const dequeue = dequeuing([item('m2', { expiresAtMs: NOW_MS })], { firstOfReply: 1 });
    const { record } = decide(
      { ...ONLINE, entries: [entry(1)] },
      { type: 'dequeue-again', connectionId: 'A', dequeue },
    );
    expect(record).toMatchObject({ mode: 'closing', awaits: 1 });
  });

  it('waits for a publisher that may still post, and no longer than it lives', () => {
    const taken = { ...ONLINE, untilMs: NOW_MS, entries: [entry(1, { kind: 'push', body: 'inline' })] };
    expect(published(fetching(taken, dequeuing([item('m2')], { nowMs: NOW_MS - 1 })))).toEqual([]);
    expect(published(fetching(taken, dequeuing([item('m2')])))).toEqual(['m2']);
  });

  it('leaves the record as it is where it can dequeue nothing: the sweep tells by its last write whether a queue moves', () => {
    const entries = [entry(1, { kind: 'push', body: 'inline' })];
    const full = { ...ONLINE, receiveMaximum: 1, entries };
    const first = fetching(full, dequeuing([item('m2')])).record;
    expect(first).toMatchObject({ mode: 'backlog', isFetching: true });
    const dequeue = dequeuing([item('m2')]);
    const again = decide(first, { type: 'frame', connectionId: 'A', acknowledgements: [], dequeue });
    expect(again.record).toBe(first);
  });

  it('holds at least one message, and none where no message may be sent', () => {
    const log = [item('m1', { bytes: 5_000 }), item('m2')];
    expect(published(fetching(ONLINE, dequeuing(log)))).toEqual(['m1']);
    expect(published(fetching(ONLINE, dequeuing(log, { limit: { messages: 0, bytes: 10_000 } })))).toEqual(
      [],
    );
  });
});

describe('an acknowledgement', () => {
  const acknowledge = (record: QueueRecord, packet: 'puback' | 'pubrec' | 'pubcomp', packetId: number) =>
    decide(record, {
      type: 'frame',
      connectionId: 'A',
      acknowledgements: [{ packet, packetId }],
      dequeue: undefined,
    });

  it('of another connection is refused', () => {
    expect(acknowledge({ ...ONLINE, connectionId: 'B' }, 'puback', 1).effects).toEqual([
      { type: 'refuse', reason: 'another-connection' },
    ]);
  });

  it('is told apart from one that is unknown, or out of place', () => {
    const record = { ...ONLINE, entries: [entry(1), entry(2, { qos: 2 }), entry(3, { phase: 'unsent' })] };
    const judged = (packet: 'puback' | 'pubrec' | 'pubcomp', packetId: number) =>
      acknowledgedAs(record, { packet, packetId });
    expect([judged('puback', 1), judged('pubrec', 2)]).toEqual(['done', 'done']);
    expect([judged('pubrec', 1), judged('puback', 2), judged('pubcomp', 2)]).toEqual(
      Array(3).fill('out-of-place'),
    );
    // A client cannot acknowledge what it has not been sent on this connection.
    expect([judged('puback', 3), judged('puback', 4)]).toEqual(['unknown', 'unknown']);
  });

  it('keeps the place and the item of the log until PUBCOMP [MQTT-4.3.3-6]', () => {
    const released = acknowledge({ ...ONLINE, entries: [entry(2, { qos: 2 })] }, 'pubrec', 2);
    expect(released.effects).toEqual([{ type: 'pubrel', packetId: 2 }]);
    expect(released.record.entries).toMatchObject([{ phase: 'pubrel-sent', isCounted: true, body: 'log' }]);
    expect(acknowledge(released.record, 'pubrec', 2).record.entries).toEqual(released.record.entries);
    const done = acknowledge(released.record, 'pubcomp', 2);
    expect(done.effects).toEqual([{ type: 'delete', name: 'm2' }]);
    expect(done.record.entries).toEqual([]);
  });

  it('drops a message that was not in the log once PUBREC has come', () => {
    const taken = entry(2, { qos: 2, kind: 'push', body: 'inline' });
    const { record } = acknowledge({ ...ONLINE, entries: [taken] }, 'pubrec', 2);
    expect(record.entries).toMatchObject([{ phase: 'pubrel-sent', body: 'none' }]);
  });

  it('that a closing record awaits makes the session direct', () => {
    const closing: QueueRecord = { ...ONLINE, mode: 'closing', awaits: 1, entries: [entry(1), entry(2)] };
    expect(acknowledge(closing, 'puback', 2).record.mode).toBe('closing');
    expect(acknowledge(closing, 'puback', 1).record).toMatchObject({ mode: 'direct', awaits: 0 });
  });
});

describe('a message that is too large for the client', () => {
  it('is dropped, and a closing record awaits the next one of the page', () => {
    const closing: QueueRecord = { ...ONLINE, mode: 'closing', awaits: 1, entries: [entry(1), entry(2)] };
    const { record, effects } = decide(closing, { type: 'give-up', packetId: 1 });
    expect(record).toMatchObject({ awaits: 2, entries: [{ packetId: 2 }] });
    expect(effects).toEqual([{ type: 'delete', name: 'm1' }]);
    expect(decide(record, { type: 'give-up', packetId: 2 }).record.awaits).toBe(0);
    expect(decide(record, { type: 'give-up', packetId: 9 }).record).toBe(record);
  });
});

describe('packet ids', () => {
  it('run in a circle, past those that are in use', () => {
    const entries = [entry(1), entry(2)];
    expect(nextPacketId({ lastPacketId: 0, entries: [] }, 'inline')).toBe(1);
    expect(nextPacketId({ lastPacketId: 5, entries }, 'reference')).toBe(7);
    expect(nextPacketId({ lastPacketId: KEPT_PACKET_ID_MAX, entries }, 'inline')).toBe(3);
  });

  it('are even where the message stands in the log, so that an acknowledgement knows whether to delete it', () => {
    const entries = [entry(1), entry(2)];
    expect(nextPacketId({ lastPacketId: 0, entries: [] }, 'log')).toBe(2);
    expect(nextPacketId({ lastPacketId: KEPT_PACKET_ID_MAX, entries }, 'log')).toBe(4);
    expect(nextPacketId({ lastPacketId: KEPT_PACKET_ID_MAX - 1, entries }, 'log')).toBe(4);
    expect([1, 7, KEPT_PACKET_ID_MAX].map(isOutsideLog)).toEqual([true, true, true]);
    expect([2, 8].map(isOutsideLog)).toEqual([false, false]);
  });
});

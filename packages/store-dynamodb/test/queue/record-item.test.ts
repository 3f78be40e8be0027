import { type Attachment, PACKET_SIZE_UNLIMITED } from '@apus/broker';
import type { ProtocolVersion } from '@apus/mqtt';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NEW_RECORD } from '../../src/queue/decide.ts';
import {
  attachmentFields,
  attachmentOfItem,
  recordFields,
  recordOfItem,
} from '../../src/queue/record-item.ts';
import type { Entry, QueueRecord } from '../../src/queue/types.ts';
import { sizeOf } from '../../src/table/meter.ts';

const MESSAGE_ID = '0198f3b2c4d5-0001-a7Kq';

const entries = fc.array(
  fc.record<Entry>({
    packetId: fc.integer({ min: 1, max: 32_767 }),
    name: fc.string(),
    qos: fc.constantFrom(1, 2),
    kind: fc.constantFrom('push', 'page'),
    phase: fc.constantFrom('unsent', 'sent', 'pubrel-due', 'pubrel-sent'),
    isCounted: fc.boolean(),
    body: fc.constantFrom('inline', 'reference', 'log', 'none'),
    bytes: fc.nat(),
  }),
);

const records = fc.record<QueueRecord>({
  epoch: fc.nat(),
  connectionId: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
  receiveMaximum: fc.nat(65_535),
  mode: fc.constantFrom('direct', 'backlog', 'closing'),
  isFetching: fc.boolean(),
  awaits: fc.nat(32_767),
  untilMs: fc.nat(),
  hasEnded: fc.boolean(),
  lastPacketId: fc.nat(32_767),
  entries,
  completed: fc.array(fc.string()),
  forgottenTo: fc.string(),
});

const attachments: fc.Arbitrary<Attachment> = fc.record(
  {
    connectionId: fc.string({ minLength: 1 }),
    protocolVersion: fc.constantFrom<ProtocolVersion[]>(3, 4, 5),
    receiveMaximum: fc.integer({ min: 1, max: 65_535 }),
    maximumPacketSize: fc.oneof(fc.integer({ min: 1, max: 1_000_000 }), fc.constant(PACKET_SIZE_UNLIMITED)),
    keepsNothing: fc.boolean(),
    takesNudges: fc.constant(true as const),
    expiresAtMs: fc.nat(),
    holder: fc.string(),
    readsOn: fc.string({ minLength: 1 }),
  },
  {
    requiredKeys: ['connectionId', 'protocolVersion', 'receiveMaximum', 'maximumPacketSize', 'keepsNothing'],
  },
);

describe('the item of a record', () => {
  it('says how to send to its connection, and to which connection its readers are bound', () => {
    fc.assert(
      fc.property(attachments, (attachment) => {
        const { connectionId, receiveMaximum } = attachment;
        const record = { ...NEW_RECORD, connectionId, receiveMaximum };
        const item = { ...recordFields(record, 'nonce'), ca: attachmentFields(attachment) };
        expect(attachmentOfItem(item)).toEqual(attachment);
      }),
    );
  });

  it('has all fields of the record', () => {
    fc.assert(
      fc.property(records, (record) => {
        expect(recordOfItem(recordFields(record, 'nonce'))).toEqual({ record, nonce: 'nonce' });
      }),
    );
  });

  it('is read as backlog where its mode is not known', () => {
    const { q: _q, ...item } = recordFields(NEW_RECORD, 'nonce');
    expect(recordOfItem(item).record.mode).toBe('backlog');
  });

  it('takes few write units for a hundred that were dequeued', () => {
    const hundred = Array.from({ length: 100 }, (_, place): Entry => {
      const name = `${MESSAGE_ID}${String(place).padStart(4, '0')}\0`;
      const fields = { kind: 'page', phase: 'sent', isCounted: true, body: 'log' } as const;
      return { packetId: place + 1, name, qos: 1, ...fields, bytes: 120 };
    });
    expect(sizeOf(recordFields({ ...NEW_RECORD, entries: hundred }, 'nonce'))).toBeLessThan(1_500);
  });
});

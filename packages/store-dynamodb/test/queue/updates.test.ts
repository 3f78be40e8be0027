import type { SessionRef } from '@apus/broker';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settingsOf } from '../../src/create-stores.ts';
import { decide, NEW_RECORD } from '../../src/queue/decide.ts';
import { NO_RECORD, Records } from '../../src/queue/records.ts';
import type { Objection, QueueRecord, RecordEvent } from '../../src/queue/types.ts';
import { Table } from '../../src/table/table.ts';
import { unique } from '../support/client.ts';
import { withService } from '../support/stores.ts';

const CONNECTION = 'c:1';

const recordsOfModes = fc.record<QueueRecord>({
  ...constants(NEW_RECORD),
  epoch: fc.constant(1),
  connectionId: fc.constantFrom(undefined, CONNECTION, 'c:2'),
  receiveMaximum: fc.constant(10),
  mode: fc.constantFrom('direct', 'backlog', 'closing'),
  isFetching: fc.boolean(),
  awaits: fc.constantFrom(0, 2),
  untilMs: fc.nat(),
});

function constants<T extends object>(values: T) {
  const entries = Object.entries(values).map(([name, value]) => [name, fc.constant(value)]);
  return Object.fromEntries(entries) as { [K in keyof T]: fc.Arbitrary<T[K]> };
}

const OBJECTION: Objection = { type: 'object' };

await withService(({ client, tableName, sessionsTableName }) => {
  const records = new Records(new Table(settingsOf({ client, tableName, sessionsTableName })));

  describe('an update without a read changes a record as `decide` does', () => {
    const cases: [string, RecordEvent, (session: SessionRef) => Promise<unknown>][] = [
      ['for an objection', OBJECTION, (session) => records.object(session)],
      [
        'for the loss of the connection',
        { type: 'lost', connectionId: CONNECTION },
        (session) => records.lost(session, CONNECTION),
      ],
      ['for the end of the incarnation', { type: 'end' }, (session) => records.end(session)],
    ];

    it.each(cases)('%s', async (_, event, update) => {
      await fc.assert(
        fc.asyncProperty(recordsOfModes, async (record) => {
          const session = sessionOf(unique('client'));
          await records.write(session, NO_RECORD, { ...NO_RECORD, record });
          await update(session);
          expect((await records.find(session))?.record).toEqual(decide(record, event).record);
        }),
      );
    });
  });

  it('an objection changes no record of an incarnation that is over', async () => {
    const session = sessionOf(unique('client'));
    const record: QueueRecord = { ...NEW_RECORD, connectionId: CONNECTION, mode: 'closing', hasEnded: true };
    await records.write(session, NO_RECORD, { ...NO_RECORD, record });
    expect(await records.object(session)).toBe(false);
    expect((await records.find(session))?.record).toEqual(record);
  });
});

function sessionOf(clientId: string): SessionRef {
  return { key: `t\0${clientId}`, tenant: 't', clientId, incarnation: 'i', attachment: undefined };
}

import { MEASURED_BUDGETS as BUDGETS, estimate, type OperationName, type Units } from '@apus/cost';
import { describe, expect, it } from 'vitest';
import { COSTS_PAGE } from './page.ts';
import { EXCHANGES_OF_A_PAGE } from './publish-operations.ts';
import { readTable } from './table.ts';

/** Read and write units of a row of loadtest/results/operations.md. */
function measured(name: string): Units {
  const row = readTable(COSTS_PAGE).find((each) => each.name === name);
  if (row === undefined) throw new Error(`"${name}" has no row in the table`);
  const [, , reads = '', writes = ''] = row.exact.map((cell) => cell.replaceAll(',', ''));
  return { reads: Number(reads), writes: Number(writes) };
}

/** All billed figures of a row, without the dollars. */
function billedIn(name: string): Readonly<Record<string, number>> {
  const row = readTable(COSTS_PAGE).find((each) => each.name === name);
  const [messagesIn, messagesOut, reads, writes, sqs, invocations] = (row?.exact ?? []).map((cell) =>
    Number(cell.replaceAll(',', '')),
  );
  return { messagesIn, messagesOut, reads, writes, sqs, invocations } as Readonly<Record<string, number>>;
}

/** The figures of one such operation, as `apus cost` estimates them. */
function billedFor(name: OperationName, given: object): Readonly<Record<string, number>> {
  const { operations } = estimate({ clients: 1, days: 1, movesPerDay: 1, ...given });
  const found = operations.find((each) => each.name === name);
  if (found === undefined) throw new Error(`the estimate has no ${name}`);
  expect(found.count).toBe(1);
  const { usage } = found;
  return {
    messagesIn: usage.gatewayMessagesIn,
    messagesOut: usage.gatewayMessagesOut,
    reads: usage.dynamodbReadUnits,
    writes: usage.dynamodbWriteUnits,
    sqs: usage.sqsStandardRequests + usage.sqsFifoRequests,
    invocations: usage.lambdaRequests,
  };
}

function sum(...parts: readonly Units[]): Units {
  return {
    reads: parts.reduce((total, { reads }) => total + reads, 0),
    writes: parts.reduce((total, { writes }) => total + writes, 0),
  };
}

function times(count: number, { reads, writes }: Units): Units {
  return { reads: count * reads, writes: count * writes };
}

/** Two shapes fit every topic of the table. */
const HEADS = { reads: 2, writes: 0 };
const PUBLISH = sum(BUDGETS.publishFrame, HEADS);
const ACKNOWLEDGEMENT = sum(BUDGETS.acknowledgeAlone, BUDGETS.acknowledge);

/** A message each nine minutes takes the place of signs of life, and 2,160 seconds and a half are a PINGREQ. */
const ONE_PINGREQ = { hours: 0.9, movesPerDay: 0, publishesPerHour: 10 };

describe('the budgets of `apus cost` equal the table of loadtest/results/operations.md', () => {
  it.each<[string, Units]>([
    ['CONNECT, clean', BUDGETS.connect],
    ['CONNECT, persistent, session continues', BUDGETS.connectPersistent],
    ['SUBSCRIBE, narrow filter', sum(BUDGETS.subscribeFrame, BUDGETS.subscribeFilter)],
    ['Move, clean, one filter', sum(BUDGETS.move, BUDGETS.moveFilter)],
    ['Move, persistent, one filter', BUDGETS.movePersistent],
    ['DISCONNECT, clean, one filter', sum(BUDGETS.disconnect, BUDGETS.disconnectFilter)],
    ['DISCONNECT, persistent, one filter', BUDGETS.disconnectPersistent],
    ['PUBLISH QoS 0 to 1', PUBLISH],
    ['PUBLISH QoS 1 to 1', PUBLISH],
    [
      'PUBLISH QoS 1 to 1, persistent session online',
      sum(PUBLISH, BUDGETS.persistentOnline, ACKNOWLEDGEMENT),
    ],
    ['PUBLISH QoS 1 to 1, persistent session away', sum(PUBLISH, BUDGETS.persistentOffline)],
    ['PUBLISH QoS 1 to 1, topic of a stream', sum(PUBLISH, BUDGETS.appendFrame, BUDGETS.append)],
    [
      'PUBLISH QoS 1 to 1, topic of a stream with a snapshot',
      sum(PUBLISH, BUDGETS.appendFrame, BUDGETS.append, BUDGETS.appendSnapshot),
    ],
    // PUBREL loads the connection; the receipt takes three writes; PUBREC and PUBCOMP are acknowledgements.
    [
      'PUBLISH QoS 2 to 1, 24 one after another',
      times(
        EXCHANGES_OF_A_PAGE,
        sum(PUBLISH, { reads: 1, writes: 3 }, BUDGETS.exactlyOnceOnline, ACKNOWLEDGEMENT, ACKNOWLEDGEMENT),
      ),
    ],
  ])('%s', (name, estimated) => {
    expect(estimated).toEqual(measured(name));
  });

  it.each<[string, OperationName, object]>([
    ['CONNECT, clean', 'connect', {}],
    ['CONNECT, persistent, session continues', 'connect', { persistentShare: 1 }],
    ['SUBSCRIBE, narrow filter', 'subscribe', {}],
    ['DISCONNECT, clean, one filter', 'disconnect', {}],
    ['DISCONNECT, persistent, one filter', 'disconnect', { persistentShare: 1 }],
    ['PINGREQ', 'heartbeat', ONE_PINGREQ],
    ['Move, clean, one filter', 'move', {}],
    ['Move, persistent, one filter', 'move', { persistentShare: 1 }],
    ['Resume, clean, one filter, with the loss', 'resume', { lossesPerDay: 1 }],
    ['Resume, persistent, one filter, with the loss', 'resume', { lossesPerDay: 1, persistentShare: 1 }],
    ['Connection lost, clean, one filter', 'loss', { lossesPerDay: 1, resumedShare: 0 }],
    [
      'Connection lost, persistent, one filter',
      'loss',
      { lossesPerDay: 1, resumedShare: 0, persistentShare: 1 },
    ],
  ])('%s, in all that is billed', (name, operation, given) => {
    expect(billedFor(operation, given)).toEqual(billedIn(name));
  });

  it.each<[string, OperationName, object]>([
    ['Move, clean, 10 filters', 'move', { subscriptions: 10 }],
    ['Resume, clean, 10 filters, with the loss', 'resume', { lossesPerDay: 1, subscriptions: 10 }],
  ])('%s: one write more than estimated, as their list is longer than a KB', (name, operation, given) => {
    const estimated = billedFor(operation, given);
    expect({ ...estimated, writes: (estimated.writes ?? 0) + 1 }).toEqual(billedIn(name));
  });

  it.each<[string, OperationName, object]>([
    [
      'SUBSCRIBE to a stream, 10 messages recovered',
      'recover',
      { recoveriesPerDay: 1, recoveredMessages: 10 },
    ],
    [
      'SUBSCRIBE to a stream, 300 messages recovered',
      'recover',
      { recoveriesPerDay: 1, recoveredMessages: 300 },
    ],
    [
      'SUBSCRIBE to a stream, snapshot of 1,000 keys',
      'snapshot',
      { snapshotsPerDay: 1, snapshotKeys: 1_000 },
    ],
  ])('%s: within a tenth, and the same messages', (name, operation, given) => {
    const estimated = billedFor(operation, given);
    const billed = billedIn(name);
    expect({ ...estimated, reads: 0 }).toEqual({ ...billed, reads: 0 });
    expect(Math.abs((estimated.reads ?? 0) / (billed.reads ?? 1) - 1)).toBeLessThan(0.1);
  });

  it('a queue that is fetched: within a tenth, as the store reads pages by the KB', () => {
    const queued = 50;
    const estimated = sum(
      BUDGETS.connectPersistent,
      times(queued, sum(BUDGETS.draw, BUDGETS.acknowledge)),
      BUDGETS.acknowledgeFrame,
    );
    const { reads, writes } = measured(`CONNECT to a queue of ${queued}`);
    expect(Math.abs(estimated.reads / reads - 1)).toBeLessThan(0.1);
    expect(Math.abs(estimated.writes / writes - 1)).toBeLessThan(0.1);
  });
});

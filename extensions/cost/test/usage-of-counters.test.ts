import { describe, expect, it } from 'vitest';
import {
  addUsage,
  type GatewayCounters,
  meteredUsage,
  UsageFormatError,
  usage,
  usageOf,
} from '../src/index.ts';

const COUNTERS: GatewayCounters = {
  messages: {
    in: { billed: 7, bytes: 70 },
    replies: { billed: 5, bytes: 500 },
    posts: { billed: 11, bytes: 1_100 },
    errors: { billed: 1, bytes: 9 },
  },
  connections: { milliseconds: 90_000 },
  lambda: { invocations: 13, gigabyteSeconds: 0.25 },
};

describe('usage from counters', () => {
  it('contains the gateway’s counts: both directions, minutes, invocations, outgoing bytes', () => {
    expect(usageOf(COUNTERS)).toEqual(
      usage({
        gatewayMessagesIn: 7,
        gatewayMessagesOut: 5 + 11 + 1,
        connectionMinutes: 1.5,
        lambdaRequests: 13,
        lambdaGigabyteSeconds: 0.25,
        dataTransferOutBytes: 1_609,
      }),
    );
  });

  it('takes the request units of DynamoDB from their meter', () => {
    expect(usageOf(COUNTERS, { reads: 40, writes: 50 })).toEqual(
      addUsage(usageOf(COUNTERS), { dynamodbReadUnits: 40, dynamodbWriteUnits: 50 }),
    );
  });

  it('separates requests of queues from empty polls of event sources', () => {
    const sqs = { billed: { standard: 20, fifo: 30 }, idlePolls: { standard: 15, fifo: 5 } };
    expect(usageOf({ ...COUNTERS, sqs })).toMatchObject({
      sqsStandardRequests: 5,
      sqsStandardPolls: 15,
      sqsFifoRequests: 25,
      sqsFifoPolls: 5,
    });
  });
});

describe('a metered usage', () => {
  it('is read from an object of kinds of usage, or from counters and units', () => {
    expect(meteredUsage({ gatewayMessagesIn: 3 })).toEqual(usage({ gatewayMessagesIn: 3 }));
    const units = { reads: 1, writes: 2 };
    expect(meteredUsage({ counters: COUNTERS, units })).toEqual(usageOf(COUNTERS, units));
    expect(meteredUsage({ counters: COUNTERS })).toEqual(usageOf(COUNTERS));
  });

  it.each<[unknown, RegExp]>([
    [[], /A usage is an object/],
    [{ messagesIn: 1 }, /"messagesIn" is no kind of usage. There are gatewayMessagesIn/],
    [{ gatewayMessagesIn: -1 }, /"gatewayMessagesIn" is a number from 0 up, not -1/],
    [{ gatewayMessagesIn: 'many' }, /not "many"/],
    [{ counters: {} }, /"counters.messages" is an object, not missing/],
    [{ counters: COUNTERS, units: { reads: 1 } }, /"units.writes" is a number from 0 up, not missing/],
    [{ counters: { ...COUNTERS, sqs: { billed: {} } } }, /"counters.sqs.billed.standard"/],
  ])('%j is refused in a sentence', (given, sentence) => {
    expect(() => meteredUsage(given)).toThrow(UsageFormatError);
    expect(() => meteredUsage(given)).toThrow(sentence);
  });
});

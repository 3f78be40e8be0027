import { describe, expect, it } from 'vitest';
import { addUsage, type GatewayCounters, usage, usageOf } from '../src/index.ts';

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
  it('is what the gateway counted: both directions, minutes, invocations, bytes out', () => {
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
});

import { billOf, type GatewayCounters, usageOf } from '@apus/cost';
import { describe, expect, it } from 'vitest';
import { Recorder } from '../src/measure/index.ts';
import { billOfRun, type RunForBill } from '../src/report/bill-of-run.ts';
import { outcomeOf } from '../src/report/outcome.ts';
import { planOf } from '../src/scenario/plan.ts';
import { ONE_PART, scenarioOf } from './support.ts';

/** Counters after so many frames in; everything else follows from it. */
function counters(frames: number): GatewayCounters {
  const tally = (billed: number) => ({ billed, bytes: billed * 100 });
  return {
    messages: { in: tally(frames), replies: tally(frames), posts: tally(frames * 2), errors: tally(0) },
    connections: { milliseconds: frames * 60_000 },
    lambda: { invocations: frames, gigabyteSeconds: frames / 100 },
  };
}

/** A run of one publisher and two subscribers: ten messages, all of which have come. */
function run(more: Partial<RunForBill> = {}): RunForBill {
  const scenario = scenarioOf({
    groups: [
      { name: 'subscribers', clients: 2, subscribe: { filters: ['t'], qos: 1 } },
      { name: 'publisher', clients: 1, publish: { topic: 't', qos: 1, payloadBytes: 100, perSecond: 1 } },
    ],
  });
  const recorder = new Recorder({ runTag: 1, worker: 0, clock: 'monotonic' });
  for (let client = 0; client < 3; client += 1) recorder.connectionMade(recorder.connectionAsked());
  const publisher = recorder.publisher('t', 1, 100);
  const subscribers = [recorder.subscriber(['t']), recorder.subscriber(['t'])];
  for (let count = 0; count < 10; count += 1) {
    const payload = Buffer.alloc(100);
    publisher.acknowledged(publisher.stamp(payload, recorder.now()));
    for (const subscriber of subscribers) subscriber.take(payload);
  }
  return {
    plan: planOf(scenario, { scale: 1, seconds: 10, part: ONE_PART }),
    outcome: outcomeOf([recorder.ledger()]),
    seconds: { connecting: 2, publishing: 10, draining: 1 },
    ...more,
  };
}

function quantities(given: RunForBill) {
  return Object.fromEntries(
    (billOfRun(given)?.lines ?? []).map(({ usage, quantity, basis }) => [String(usage), { quantity, basis }]),
  );
}

describe('the bill of a run', () => {
  it('is estimated from connections, publishes and deliveries when there are no counters', () => {
    const lines = quantities(run());
    // 2 SUBSCRIBE and 10 PUBLISH have replies, and there are 20 deliveries. CONNECT comes with the handshake, and
    // DISCONNECT is the close.
    expect(lines.gatewayMessagesIn?.quantity).toBeCloseTo(2 + 10, 0);
    expect(lines.gatewayMessagesOut?.quantity).toBeCloseTo(2 + 10 + 20, 0);
    // Each was there for 12 seconds: half of connecting, and the rest.
    expect(lines.connectionMinutes?.quantity).toBeCloseTo((3 * 12) / 60, 9);
    for (const line of Object.values(lines)) expect(line.basis).toBe('estimated');
  });

  it('is what the emulator has counted between before and after, and only the rest is estimated', () => {
    const counted = {
      before: counters(100),
      connected: counters(110),
      drained: counters(150),
      after: counters(160),
    };
    const lines = quantities(run({ counted }));
    expect(lines).toMatchObject({
      gatewayMessagesIn: { quantity: 60, basis: 'counted' },
      gatewayMessagesOut: { quantity: 180, basis: 'counted' },
      connectionMinutes: { quantity: 60, basis: 'counted' },
      lambdaRequests: { quantity: 60, basis: 'counted' },
      lambdaGigabyteSeconds: { quantity: expect.closeTo(0.6, 9), basis: 'counted' },
      dynamodbReadUnits: { basis: 'estimated' },
      dynamodbWriteUnits: { basis: 'estimated' },
    });
    const bill = billOfRun(run({ counted }));
    const exact = (bill?.lines ?? []).filter(({ basis }) => basis === 'counted');
    const recomputed = billOf(usageOf(counters(60))).usd;
    expect(exact.reduce((sum, { usd }) => sum + usd, 0)).toBeCloseTo(recomputed, 12);
    expect(bill?.usdPerMillionDeliveries).toBeCloseTo(((bill?.usd ?? 0) / 20) * 1e6, 6);
  });

  it('has the messages apart, without connecting and minutes', () => {
    const counted = {
      before: counters(100),
      connected: counters(110),
      drained: counters(150),
      after: counters(160),
    };
    const bill = billOfRun(run({ counted }));
    const messages = billOf({ ...usageOf(counters(40)), connectionMinutes: 0 }).usd;
    // 10 publishes: a read of the connection, one shape, and up to one of the registry; 0.01 writes of metering.
    const atLeast = messages + billOf({ dynamodbReadUnits: 20, dynamodbWriteUnits: 0.1 }).usd;
    const atMost = messages + billOf({ dynamodbReadUnits: 30, dynamodbWriteUnits: 0.1 }).usd;
    const perMillion = bill?.messagesUsdPerMillionDeliveries ?? 0;
    expect((perMillion / 1e6) * 20).toBeGreaterThanOrEqual(atLeast * (1 - 1e-9));
    expect((perMillion / 1e6) * 20).toBeLessThanOrEqual(atMost * (1 + 1e-9));
  });

  it('takes frames from the clients where the gateway is somewhere else', () => {
    const frames = {
      framesSent: 30,
      framesReceived: 50,
      bytesSent: 3_000,
      bytesReceived: 5_000,
      messagesBilled: 81,
    };
    expect(quantities(run({ frames }))).toMatchObject({
      gatewayMessagesIn: { quantity: 30, basis: 'measured' },
      gatewayMessagesOut: { quantity: 51, basis: 'measured' },
      dataTransferOutBytes: { quantity: 5_000 / 1e9, basis: 'measured' },
      lambdaRequests: { basis: 'estimated' },
    });
  });

  it('knows the same traffic elsewhere', () => {
    const bill = billOfRun(run());
    const iot = bill?.offers.find(({ service }) => service === 'AWS IoT Core');
    // 3 CONNECT, 2 SUBSCRIBE, 10 in, 20 out: sessions that end with their connections have QoS 0.
    const messages = iot?.bill.lines.filter(({ price }) => price === 'iotMessage') ?? [];
    expect(messages.reduce((sum, { quantity }) => sum + quantity, 0)).toBe(35);
  });

  it('is none when no client was connected', () => {
    expect(billOfRun({ ...run(), outcome: outcomeOf([]) })).toBeUndefined();
  });
});

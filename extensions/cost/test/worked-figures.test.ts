import { describe, expect, it } from 'vitest';
import {
  ably,
  awsIotCore,
  billOf,
  DESIGN_BUDGETS,
  emqxServerless,
  estimate,
  type GivenWorkload,
  NO_TRAFFIC,
  nodeDoor,
  type OperationName,
  scaleUsage,
  type Traffic,
  usage,
} from '../src/index.ts';

/*
 * The figures that the design rests on, recomputed: us-east-1, arm64, 512 MB, 25 ms for each frame, two filter shapes
 * (S = 2), payloads of 1 KB, no logs, DynamoDB as the design's budgets allow it. The published figures are rounded and
 * say "about"; each test shows the sum that it is made of. Data transfer and metering are not in them.
 */

/** Lambda for a million frames: 0.20, and 25 ms × 0.5 GB × 0.0000133334. */
const INVOCATION = 0.3666675;

const MILLION = 1_000_000;

/** Dollars for each of so many, by the estimate's operations of these names, without data transfer and metering. */
function perMillionOf(given: GivenWorkload, names: readonly OperationName[], each: OperationName): number {
  const { operations } = estimate(
    {
      shapes: 2,
      memoryMegabytes: 512,
      frameMs: 25,
      bytes: 1_024,
      fifoQueues: 0,
      standardQueues: 0,
      ...given,
    },
    { budgets: DESIGN_BUDGETS },
  );
  const count = operations.find(({ name }) => name === each)?.count ?? 0;
  const usd = operations
    .filter(({ name }) => names.includes(name))
    .map((operation) => ({ ...operation.usage, dataTransferOutBytes: 0 }))
    .reduce((sum, used) => sum + billOf(scaleUsage(used, MILLION / count)).usd, 0);
  const metering = names.includes('publish') ? 0.01 * 0.625 : 0;
  const publishes = operations.find(({ name }) => name === 'publish')?.count ?? 0;
  return usd - (metering * publishes) / count;
}

/** One client that publishes often enough to be answered and too rarely for packets to meet. */
const SPARSE: GivenWorkload = { clients: 1, hours: 24, publishesPerHour: 1_000, fanOut: 1, qos: 1 };

describe('pings and connections of 1,000 idle clients, a month', () => {
  const minutes = 1_000 * 30 * 24 * 60;

  it('connections: 43.2 M minutes × 0.25 = $10.80', () => {
    expect(billOf({ connectionMinutes: minutes }).usd).toBeCloseTo(10.8, 10);
  });

  it('a ping each minute: two messages and an invocation that is over in 3 ms, about $96', () => {
    const { usd } = billOf({
      gatewayMessagesIn: minutes,
      gatewayMessagesOut: minutes,
      lambdaRequests: minutes,
      lambdaGigabyteSeconds: minutes * 0.003 * 0.5,
    });
    // 86.40 for messages, 8.64 for requests, 0.86 for their time.
    expect(usd).toBeCloseTo(95.9, 1);
    expect(Math.round(usd)).toBe(96);
  });
});

describe('a full frame', () => {
  it('32 KB out cost 2.9 a million in data transfer', () => {
    expect(billOf({ dataTransferOutBytes: MILLION * 32_768 }).usd).toBeCloseTo(2.9, 1);
  });

  it('above some 11 KB data transfer costs as much as the frame', () => {
    expect(billOf({ dataTransferOutBytes: MILLION * 11_000 }).usd).toBeLessThan(1);
    expect(billOf({ dataTransferOutBytes: MILLION * 11_200 }).usd).toBeGreaterThan(1);
  });
});

describe('a 1:1 QoS 1 message done naively', () => {
  it('is four messages: PUBLISH, PUBACK, PUBLISH, PUBACK; $4 a million before any Lambda', () => {
    expect(billOf({ gatewayMessagesIn: 2 * MILLION, gatewayMessagesOut: 2 * MILLION }).usd).toBeCloseTo(
      4,
      10,
    );
  });
});

describe('CONNECT, SUBSCRIBE, DISCONNECT', () => {
  // CONNECT 1 read and 2 writes, SUBSCRIBE of one filter 1 and 2, DISCONNECT 2 and 3: the budgets in full.
  const cycle = usage({ dynamodbReadUnits: 4, dynamodbWriteUnits: 7 });

  it('about 11.3 a million: five frames, and invocations for $connect and the three packets', () => {
    const { usd } = billOf(
      scaleUsage(
        {
          ...cycle,
          gatewayMessagesIn: 3,
          gatewayMessagesOut: 2,
          lambdaRequests: 4,
          lambdaGigabyteSeconds: 4 * 0.0125,
        },
        MILLION,
      ),
    );
    // 5 × 1.00 + 4 × 0.3667 + 4 × 0.125 + 7 × 0.625
    expect(usd).toBeCloseTo(5 + 4 * INVOCATION + 0.5 + 4.375, 8);
    expect(usd).toBeCloseTo(11.3, 1);
  });

  it('the estimate is what the transport does: CONNECT in the handshake, DISCONNECT in the close', () => {
    const given = { clients: 1, hours: 1, connectsPerDay: 1, subscriptions: 1 };
    const usd = perMillionOf(given, ['connect', 'subscribe', 'disconnect'], 'connect');
    expect(usd).toBeCloseTo(2 + 3 * INVOCATION + 0.5 + 4.375, 3);
  });

  it('2.0 at IoT Core: CONNECT and SUBSCRIBE are metered', () => {
    expect(awsIotCore({ ...NO_TRAFFIC, connects: MILLION, subscribes: MILLION }).bill.usd).toBeCloseTo(2, 10);
  });
});

describe('1:1, each message alone', () => {
  it.each([0, 1] as const)('QoS %i: about 3.9 a million', (qos) => {
    const usd = perMillionOf({ ...SPARSE, qos }, ['publish', 'deliver'], 'publish');
    // Frame, reply and post; one invocation; the connection, two shapes, and the shapes' registry, whose lease of two
    // seconds is over each time.
    expect(usd).toBeCloseTo(3 + INVOCATION + 4 * 0.125, 6);
    expect(usd).toBeCloseTo(3.9, 1);
  });

  it('QoS 1 packed at 100 messages a second: about 0.8', () => {
    const usd = perMillionOf(
      { ...SPARSE, publishesPerHour: 360_000, replyMs: 50 },
      ['publish', 'deliver'],
      'publish',
    );
    // Five share each frame while a reply takes 50 ms; the registry is read every two seconds.
    expect(usd).toBeCloseTo((3 + INVOCATION + (3 + 0.5 / 20) * 0.125) / 5, 6);
    expect(Math.abs(usd - 0.8)).toBeLessThan(0.06);
  });

  it('IoT Core: 2.0 at QoS 0, 3.0 at QoS 1', () => {
    const message: Traffic = { ...NO_TRAFFIC, publishes: MILLION, deliveries: MILLION, messageBytes: 1_048 };
    expect(awsIotCore(message).bill.usd).toBeCloseTo(2, 10);
    expect(awsIotCore({ ...message, acknowledgedDeliveries: MILLION }).bill.usd).toBeCloseTo(3, 10);
  });
});

describe('1 to 1,000', () => {
  const operations = ['publish', 'deliver', 'fan-out'] as const;

  it('each delivery about 1.03 a million', () => {
    const wide = { ...SPARSE, fanOut: 1_000, postMs: 3 };
    // 1.002 for frames, 0.02 for 3 ms of a worker's time for each post, the rest for shard, slices, jobs and reads.
    expect(perMillionOf(wide, operations, 'deliver')).toBeCloseTo(1.03, 2);
    // CPU alone would allow 1 ms a post.
    expect(perMillionOf({ ...wide, postMs: 1 }, operations, 'deliver')).toBeCloseTo(1.02, 2);
  });

  it('0.10 when ten messages share a post', () => {
    const packed = { ...SPARSE, fanOut: 1_000, postMs: 3, packetsPerFrame: 10 };
    expect(perMillionOf(packed, operations, 'deliver')).toBeCloseTo(0.1, 2);
  });

  it('IoT Core: 1.0 at QoS 0, 2.0 at QoS 1', () => {
    const message = { ...NO_TRAFFIC, publishes: MILLION / 1_000, deliveries: MILLION, messageBytes: 1_048 };
    expect(awsIotCore(message).bill.usd).toBeCloseTo(1, 2);
    expect(awsIotCore({ ...message, acknowledgedDeliveries: MILLION }).bill.usd).toBeCloseTo(2, 2);
  });
});

describe('a persistent session at QoS 1', () => {
  it('online: about 6.6', () => {
    const persistent = { ...SPARSE, persistentShare: 1 };
    const usd = perMillionOf(persistent, ['publish', 'deliver', 'keep'], 'publish');
    // 1:1, and a read and a write for the queue, a frame with the PUBACK and its invocation, a write for it.
    expect(usd).toBeCloseTo(3.8666675 + 0.125 + 0.625 + 1 + INVOCATION + 0.625, 6);
    expect(usd).toBeCloseTo(6.6, 1);
  });

  it('drained: about 4.4', () => {
    const offline = { ...SPARSE, persistentShare: 1, offlineShare: 1 };
    const usd = perMillionOf(offline, ['publish', 'deliver', 'drain'], 'publish');
    expect(usd).toBeCloseTo(4.4, 1);
  });

  it('IoT Core: 3.0 online; 4.0 drained, since what is stored is metered once more', () => {
    const message = {
      ...NO_TRAFFIC,
      publishes: MILLION,
      deliveries: MILLION,
      acknowledgedDeliveries: MILLION,
      messageBytes: 1_048,
    };
    expect(awsIotCore(message).bill.usd).toBeCloseTo(3, 10);
    expect(awsIotCore({ ...message, queuedDeliveries: MILLION }).bill.usd).toBeCloseTo(4, 10);
  });
});

describe('an idle client, a month', () => {
  const idle = estimate(
    { clients: 1, hours: 24, subscriptions: 1, fifoQueues: 0, standardQueues: 0 },
    { budgets: DESIGN_BUDGETS },
  );
  const traffic = { ...NO_TRAFFIC, connectionMinutes: 43_200 };

  it('0.0200: minutes 0.0108, 975 pings and 3,600 signs of life 0.0060, 30 connections 0.0002, 420 moves 0.0028, the sweep 0.0001', () => {
    const { usd } = billOf({ ...idle.usage, dataTransferOutBytes: 0 });
    // Each of 450 connections ends half an interval behind the last of each.
    const beats = 43_200 / 9 - 450 / 2;
    const asked = 43_200 / 36 - 450 / 2;
    const pings = asked * (2 + INVOCATION + 0.125) + (beats - asked);
    const connections = 30 * (2 + 3 * INVOCATION + 4 * 0.125 + 7 * 0.625);
    const moves = 420 * (2 + 3 * INVOCATION + 4 * 0.125 + 5 * 0.625);
    // A session of 1,150 bytes, the rests of 450 connections for an hour of 720 each, and a filter once a day.
    const swept = (30 * (144 * (1_150 + (450 / 720) * 800) + 280)) / 8_192;
    const sweep = swept * 0.125;
    expect(usd).toBeCloseTo(0.0108 + (pings + connections + moves + sweep) / MILLION, 10);
    expect(usd).toBeCloseTo(0.02, 4);
  });

  it('0.0035 at IoT Core, 0.086 at EMQX Serverless, 0.043 at Ably', () => {
    expect(awsIotCore(traffic).bill.usd).toBeCloseTo(0.0035, 4);
    expect(emqxServerless(traffic).bill.usd).toBeCloseTo(0.086, 3);
    expect(ably(traffic).bill.usd).toBeCloseTo(0.043, 3);
  });

  it('beyond roughly 1,200 a small machine is cheaper', () => {
    const month = billOf(idle.usage).usd;
    const { usd } = nodeDoor({ ...traffic, clients: 1_000 });
    expect(usd / month).toBeGreaterThan(1_150);
    expect(usd / month).toBeLessThan(1_250);
  });
});

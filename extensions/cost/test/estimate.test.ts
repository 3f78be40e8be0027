import { describe, expect, it } from 'vitest';
import { billOf, estimate, type GivenWorkload, WorkloadError } from '../src/index.ts';

const QUIET = { fifoQueues: 0, standardQueues: 0 };

function operation(given: GivenWorkload, name: string) {
  const found = estimate({ ...QUIET, ...given }).operations.find((each) => each.name === name);
  if (found === undefined) throw new Error(`the estimate has no ${name}`);
  return found;
}

describe('an estimate, by hand', () => {
  it('1,000 clients, 8 hours a day, a message a minute to ten others', () => {
    const { usage, traffic } = estimate({
      ...QUIET,
      clients: 1_000,
      hours: 8,
      publishesPerHour: 60,
      fanOut: 10,
      qos: 1,
      bytes: 200,
    });
    // 1,000 × 8 × 30 hours: 14.4 M minutes and 14.4 M messages, with 144 M recipients.
    expect(usage.connectionMinutes).toBe(14_400_000);
    expect(traffic.publishes).toBe(14_400_000);
    expect(traffic.deliveries).toBe(144_000_000);
    // One connection a day, whose CONNECT and DISCONNECT take no frame, a SUBSCRIBE and four moves; no ping, since
    // publishing proves the connection.
    const connects = 1_000 * 30;
    const moves = 4 * connects;
    expect(usage.gatewayMessagesIn).toBe(14_400_000 + connects + moves);
    expect(usage.gatewayMessagesOut).toBe(14_400_000 + 144_000_000 + connects + moves);
  });

  it('without moves a client connects anew for each two hours begun', () => {
    const { workload, operations } = estimate({ clients: 1, hours: 7, movesPerDay: 0 });
    expect(workload.connectsPerDay).toBe(4);
    expect(operations.map(({ name }) => name)).not.toContain('move');
  });

  it('a client that connects often enough does not move', () => {
    expect(estimate({ clients: 1, hours: 8, connectsPerDay: 5 }).workload.movesPerDay).toBe(0);
    expect(estimate({ clients: 1, hours: 8, connectsPerDay: 4 }).workload.movesPerDay).toBe(4);
  });

  it('a client that loses its connection and returns too late connects and subscribes once more', () => {
    const given = { clients: 1, days: 1, hours: 8, connectsPerDay: 4, movesPerDay: 0 };
    const lossy = { ...given, lossesPerDay: 3 };
    expect(estimate(lossy).workload.resumedShare).toBe(0);
    expect(operation(lossy, 'loss')).toMatchObject({
      count: 3,
      usage: { lambdaRequests: 6, sqsStandardRequests: 9, dynamodbReadUnits: 9, dynamodbWriteUnits: 12 },
    });
    expect(operation(lossy, 'connect').count).toBe(4 + 3);
    expect(operation(lossy, 'subscribe').count).toBe(4 + 3);
    // A connection that was lost is not ended a second time.
    expect(operation(lossy, 'disconnect')).toEqual(operation(given, 'disconnect'));
  });

  it('at other services each lost connection is a CONNECT and a SUBSCRIBE, even if it is resumed here', () => {
    const given = { clients: 1, days: 1, lossesPerDay: 4 };
    for (const resumedShare of [0, 0.5, 1]) {
      const { traffic, operations } = estimate({ ...given, resumedShare });
      expect(traffic).toMatchObject({ connects: 5, subscribes: 5 });
      expect(operations.find(({ name }) => name === 'connect')?.count).toBe(5 - 4 * resumedShare);
    }
  });

  it('a message of a stream is one more write, and the messages of a frame share its reads', () => {
    const given = { clients: 1, days: 1, hours: 1, publishesPerHour: 1_000, streamShare: 0.5 };
    expect(operation(given, 'append')).toMatchObject({
      count: 500,
      usage: { dynamodbReadUnits: 1_500, dynamodbWriteUnits: 500 },
    });
    expect(operation({ ...given, packetsPerFrame: 10, snapshotShare: 1 }, 'append').usage).toMatchObject({
      dynamodbReadUnits: 150,
      dynamodbWriteUnits: 1_000,
    });
    // 1,500 bytes of payload are more than a KB of the log.
    expect(operation({ ...given, bytes: 1_500 }, 'append').usage.dynamodbWriteUnits).toBe(1_000);
  });

  it('history is stored, and the sweep does not read it', () => {
    const given = { clients: 1, streamGigabytes: 2 };
    expect(operation(given, 'history').usage.dynamodbStorageGigabyteMonths).toBe(2);
    expect(operation(given, 'sweep')).toEqual(operation({ clients: 1 }, 'sweep'));
  });

  it('streams are not mentioned if there are none', () => {
    expect(estimate({ clients: 1 }).assumptions.join('\n')).not.toMatch(/stream/);
    expect(estimate({ clients: 1, recoveriesPerDay: 3 }).assumptions.join('\n')).toMatch(
      /is sent 10 missed messages 3 times a day/,
    );
  });

  it('lost connections are not mentioned if there are none', () => {
    expect(estimate({ clients: 1 }).operations.map(({ name }) => name)).toEqual([
      'online',
      'connect',
      'subscribe',
      'heartbeat',
      'move',
      'disconnect',
      'sweep',
      'standing',
    ]);
    expect(estimate({ clients: 1 }).assumptions.join('\n')).toMatch(/No connection is lost/);
    expect(estimate({ clients: 1, lossesPerDay: 2 }).assumptions.join('\n')).toMatch(
      /loses its connection 2 times a day: 100% of the sessions are resumed/,
    );
  });

  it('with half a filter a client, half of the clients subscribe', () => {
    const { count, usage } = operation({ clients: 10, hours: 1, days: 1, subscriptions: 0.5 }, 'subscribe');
    expect(count).toBe(5);
    expect(usage).toMatchObject({
      gatewayMessagesIn: 5,
      dynamodbReadUnits: 5 * 3,
      dynamodbWriteUnits: 5 * 2,
    });
  });

  it('an idle client sends a sign of life every nine minutes, of which a PINGREQ every 36 is answered', () => {
    // At the end of each of 30 connections and 420 moves, half an interval has passed since the last heartbeat of each
    // kind.
    const { count, usage } = operation({ clients: 1 }, 'heartbeat');
    expect(count).toBeCloseTo(4_800 - 225, 9);
    const pings = 1_200 - 225;
    expect(usage).toMatchObject({
      gatewayMessagesIn: count,
      lambdaRequests: pings,
      dynamodbReadUnits: pings,
    });
    expect(usage.gatewayMessagesOut).toBeCloseTo(pings, 9);
  });

  it('a client that is connected for less than nine minutes sends none', () => {
    const { operations } = estimate({ clients: 1, hours: 0.05, days: 30, movesPerDay: 0 });
    expect(operations.map(({ name }) => name)).not.toContain('heartbeat');
  });

  it('a client that receives a message every nine minutes sends only PINGREQ', () => {
    const given = {
      clients: 2,
      publishesPerHour: 3_600 / 540,
      publisherShare: 0.5,
      fanOut: 2,
      qos: 1,
    } as const;
    const { count, usage } = operation(given, 'heartbeat');
    expect(usage.lambdaRequests).toBeCloseTo(1_200 - 225, 9);
    expect(count).toBeCloseTo(1_200 - 225, 9);
  });

  it('a client that publishes QoS 1 every nine minutes or more often does not ping', () => {
    const { operations } = estimate({ ...QUIET, clients: 1, publishesPerHour: 3_600 / 540, qos: 1 });
    expect(operations.map(({ name }) => name)).not.toContain('heartbeat');
  });

  it('a rare QoS 0 publish asks for no reply, and proves nothing', () => {
    const { usage } = operation({ clients: 1, publishesPerHour: 1, qos: 0 }, 'publish');
    expect(usage.gatewayMessagesIn).toBe(720);
    expect(usage.gatewayMessagesOut).toBe(0);
    const heartbeat = operation({ clients: 1, publishesPerHour: 1, qos: 0 }, 'heartbeat');
    expect(heartbeat.usage.lambdaRequests).toBeCloseTo(1_200 - 225, 9);
    // But it keeps the connection open, as a received message does.
    expect(heartbeat.count).toBeCloseTo(4_800 - 225 - 2 * 720, 9);
  });

  it('packets that meet share a frame: at 100 a second and 50 ms, five', () => {
    const { usage } = operation({ clients: 1, publishesPerHour: 360_000, replyMs: 50, qos: 1 }, 'publish');
    expect(usage.gatewayMessagesIn).toBeCloseTo((100 * 2_592_000) / 5, 6);
  });

  it('no more packets share a frame than fit into 24,573 bytes', () => {
    const given = { clients: 1, publishesPerHour: 360_000, packetsPerFrame: 100, bytes: 12_000, qos: 1 };
    // 12,000 + 24 of topic + 8: two of them fit.
    expect(operation(given, 'publish').usage.gatewayMessagesIn).toBeCloseTo((100 * 2_592_000) / 2, 6);
  });

  it('QoS 2 is two exchanges, and three writes for the receipt', () => {
    const given = { clients: 1, publishesPerHour: 100, qos: 2 };
    const { count, usage } = operation(given, 'publish');
    expect(usage.gatewayMessagesIn).toBe(2 * count);
    expect(usage.gatewayMessagesOut).toBe(2 * count);
    expect(usage.dynamodbWriteUnits).toBeCloseTo(count * 3.01, 6);
  });

  it('a persistent recipient costs a read and a write, and its PUBACK a frame, a read and a write', () => {
    const given = { clients: 1, publishesPerHour: 100, qos: 1, persistentShare: 1 };
    const { count, usage } = operation(given, 'keep');
    expect(usage).toMatchObject({
      gatewayMessagesIn: count,
      gatewayMessagesOut: 0,
      lambdaRequests: count,
      dynamodbReadUnits: count * 2,
      dynamodbWriteUnits: count * 2,
    });
  });

  it('a queued message is written when it comes, dequeued with its part of a page, and acknowledged with a write', () => {
    const given = { clients: 1, publishesPerHour: 100, qos: 1, persistentShare: 1, offlineShare: 1 };
    const { count, usage } = operation(given, 'drain');
    expect(count).toBe(72_000);
    expect(usage.dynamodbWriteUnits).toBeCloseTo(count * (1 + 0.04 + 1), 6);
    const exactlyOnce = operation({ ...given, qos: 2 }, 'drain');
    expect(exactlyOnce.usage.dynamodbWriteUnits).toBeCloseTo(count * (1.125 + 1.04 + 2), 6);
  });

  it('a QoS 2 message is added with a write, and an eighth for dropped names; each of two acknowledgements takes one', () => {
    const { count, usage } = operation({ clients: 1, publishesPerHour: 100, qos: 2 }, 'keep');
    expect(usage.dynamodbWriteUnits).toBe(count * (1.125 + 2));
  });

  it('a payload of 10 KB is stored once for its recipients', () => {
    const given = { clients: 1, publishesPerHour: 100, qos: 1, persistentShare: 1, bytes: 10_240, fanOut: 4 };
    const { count, usage } = operation(given, 'keep');
    // One for each of four recipients, one for each PUBACK, ten for the body.
    expect(usage.dynamodbWriteUnits).toBe(count * 2 + (count / 4) * 10);
  });

  it('2,012 recipients: twelve in the frame, two shards of a thousand with two slices each', () => {
    const { count, usage } = operation({ clients: 1, publishesPerHour: 100, fanOut: 2_012 }, 'fan-out');
    const publishes = 72_000;
    expect(count).toBe(publishes * 2);
    // Both jobs are sent in one request; each is received and deleted.
    expect(usage.sqsFifoRequests).toBe(publishes * 5);
    expect(usage.dynamodbWriteUnits).toBe(publishes * 4);
    expect(usage.dynamodbReadUnits).toBeCloseTo(publishes * 50, 6);
  });

  it('the fixed cost: polling of two mappings, and the given storage', () => {
    const { usage } = estimate({ clients: 1, hours: 0, secrets: 1, dashboards: 2, alarms: 3, kmsKeys: 4 });
    expect(usage).toMatchObject({
      sqsFifoPolls: 650_000,
      sqsStandardPolls: 650_000,
      secretMonths: 1,
      dashboardMonths: 2,
      alarmMonths: 3,
      kmsKeyMonths: 4,
    });
  });

  describe('the sweep', () => {
    const GIB_UNITS = 2 ** 30 / 8_192;

    it('reads a GB of messages once a day: half a dollar a month beside its storage', () => {
      const given = { clients: 1, hours: 0 };
      const read = (more: object) => operation({ ...given, ...more }, 'sweep').usage.dynamodbReadUnits;
      expect(read({ storedGigabytes: 1 }) - read({})).toBeCloseTo(30 * GIB_UNITS, 3);
      expect(operation({ ...given, storedGigabytes: 2 }, 'sweep').usage).toMatchObject({
        dynamodbStorageGigabyteMonths: 2,
      });
    });

    it('reads persistent sessions 144 times a day, whether or not their clients are connected', () => {
      const read = (more: object) =>
        operation({ clients: 1_000, subscriptions: 0, hours: 0, ...more }, 'sweep').usage.dynamodbReadUnits;
      const persistent = read({ persistentShare: 1 }) - read({});
      expect(persistent).toBeCloseTo((1_000 * 1_150 * 144 * 30) / 8_192, 3);
    });

    it('reads the names of QoS 2 messages for seven days', () => {
      const read = (qos: number) =>
        operation({ clients: 1, publishesPerHour: 1_000, qos }, 'sweep').usage.dynamodbReadUnits;
      expect(read(2) - read(1)).toBeCloseTo((720_000 * 7 * 25) / 8_192, 3);
    });
  });

  it('logs are counted for each invocation', () => {
    const { usage } = estimate({ ...QUIET, clients: 1, logBytesPerFrame: 2_000 });
    expect(usage.logBytes).toBeCloseTo(usage.lambdaRequests * 2_000, 6);
  });

  it('the floor is frames and minutes: a message in, its answer, a message out', () => {
    const { floor } = estimate({ ...QUIET, clients: 1, publishesPerHour: 100, qos: 1, subscriptions: 0 });
    expect(floor.usage).toMatchObject({
      gatewayMessagesIn: 72_000 + 420,
      gatewayMessagesOut: 2 * 72_000 + 420,
      lambdaRequests: 0,
    });
    expect(floor.usd).toBeCloseTo(billOf(floor.usage).usd, 12);
  });

  it('names its assumptions', () => {
    const { assumptions } = estimate({ clients: 1, packetsPerFrame: 3 });
    expect(assumptions.join('\n')).toMatch(/us-east-1, read in 2026-08/);
    expect(assumptions.join('\n')).toMatch(/3 PUBLISH packets share a frame, as given/);
    const leftOut = /secret, alarms, metrics and dashboard are left out/;
    expect(assumptions.join('\n')).toMatch(leftOut);
    expect(estimate({ clients: 1, alarms: 11 }).assumptions.join('\n')).not.toMatch(leftOut);
  });
});

describe('a workload', () => {
  it.each<[unknown, RegExp]>([
    [undefined, /A workload is an object/],
    [[], /A workload is an object/],
    [{}, /needs the number of its clients/],
    [{ clients: 0 }, /"clients" is a whole number from 1 to 1,000,000,000, not 0/],
    [{ clients: 1.5 }, /whole number/],
    [{ clients: '10' }, /not "10"/],
    [{ clients: 1, hours: 25 }, /"hours" is a number from 0 to 24, not 25/],
    [{ clients: 1, qos: 3 }, /"qos"/],
    [{ clients: 1, bytes: 24_001 }, /"bytes" is a number from 0 to 24,000/],
    [{ clients: 1, hour: 8 }, /"hour" is no field of a workload. There are clients, hours/],
    [{ clients: 1, toString: 8 }, /"toString" is no field/],
  ])('%j is refused in a sentence', (given, sentence) => {
    expect(() => estimate(given as GivenWorkload)).toThrow(WorkloadError);
    expect(() => estimate(given as GivenWorkload)).toThrow(sentence);
  });
});

describe('messages from Kafka, and messages that rules send', () => {
  const QUIETEST = { clients: 1, hours: 0, connectsPerDay: 1, days: 30, bytes: 200, shapes: 2 };

  it('cost one invocation for ten records of an event, two reads each, and a post to each recipient', () => {
    const given = { ...QUIETEST, kafkaRecordsPerHour: 1_000, fanOut: 3 };
    expect(operation(given, 'kafka')).toMatchObject({
      count: 720_000,
      usage: { lambdaRequests: 72_000, dynamodbReadUnits: 1_440_000, gatewayMessagesOut: 2_160_000 },
    });
  });

  it('cost a rule, an action, and three requests of SQS for a message of AWS IoT Core', () => {
    const given = { ...QUIETEST, iotMessagesPerHour: 1_000, fanOut: 3 };
    const { count, usage } = operation(given, 'iot-core');
    expect(count).toBe(720_000);
    expect(usage).toMatchObject({
      iotRulesTriggered: 720_000,
      iotRuleActions: 720_000,
      sqsStandardRequests: 2_160_000,
      lambdaRequests: 720_000,
      dynamodbReadUnits: 1_440_000,
      gatewayMessagesOut: 2_160_000,
    });
    const polls = billOf({ sqsStandardPolls: usage.sqsStandardPolls }).usd;
    // docs/iot-core.md.
    const alone = operation({ ...given, fanOut: 0 }, 'iot-core').usage;
    expect(((billOf(alone).usd - polls) / count) * 1e6).toBeCloseTo(2.12, 2);
    const together = operation({ ...given, iotMessagesPerEvent: 10 }, 'iot-core').usage;
    expect(together).toMatchObject({ sqsStandardRequests: 864_000, lambdaRequests: 72_000 });
  });

  it('are metered by 5 KB of a message of AWS IoT Core', () => {
    const given = { ...QUIETEST, iotMessagesPerHour: 1_000, bytes: 5_120 };
    expect(operation(given, 'iot-core').usage.iotRulesTriggered).toBe(1_440_000);
  });

  it('cost three requests of SQS and an invocation for a message of a rule, and the polls of its queue', () => {
    const given = { ...QUIETEST, kafkaRecordsPerHour: 1_000, ruleShare: 1 };
    const { count, usage } = operation(given, 'rules');
    expect([count, usage.lambdaRequests, usage.sqsFifoRequests]).toEqual([720_000, 720_000, 2_160_000]);
    expect(usage.sqsFifoPolls).toBeGreaterThan(600_000);
    // docs/costs.md: $1.87 for a million messages that leave.
    const polls = billOf({ sqsFifoPolls: usage.sqsFifoPolls }).usd;
    expect(((billOf(usage).usd - polls) / count) * 1e6).toBeCloseTo(1.87, 2);
  });

  it('cost nothing if there are none', () => {
    const names = estimate(QUIETEST).operations.map(({ name }) => name);
    expect(names.filter((name) => ['kafka', 'iot-core', 'rules'].includes(name))).toEqual([]);
  });
});

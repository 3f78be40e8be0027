import { describe, expect, it } from 'vitest';
import {
  ably,
  appSyncEvents,
  awsIotCore,
  compare,
  emqxServerless,
  estimate,
  type GivenWorkload,
  NO_TRAFFIC,
  objectDoor,
  type Traffic,
} from '../src/index.ts';

/** A thousand publishes to two recipients each, of 6,000 bytes. */
const LARGE: Traffic = {
  ...NO_TRAFFIC,
  publishes: 1_000_000,
  deliveries: 2_000_000,
  acknowledgedDeliveries: 2_000_000,
  messageBytes: 6_000,
  qos: 1,
};

describe('other services, by hand', () => {
  it('IoT Core meters 6,000 bytes as two messages, and each PUBACK as one', () => {
    // 2 + 4 + 2 million messages.
    expect(awsIotCore(LARGE).bill.usd).toBeCloseTo(8, 10);
  });

  it('Ably bills a publish and each delivery, for every 5 KiB begun', () => {
    // (1 + 2) million × 2 × 2.50.
    expect(ably(LARGE).bill.usd).toBeCloseTo(15, 10);
    expect(
      ably({ ...NO_TRAFFIC, connectionMinutes: 2_000_000, topicMinutes: 1_000_000 }).bill.usd,
    ).toBeCloseTo(3);
  });

  it('EMQX Serverless bills sessions, including those of absent clients, and bytes both ways', () => {
    // 3 million × 6,012 bytes = 18.036 GB × 0.15.
    expect(emqxServerless(LARGE).bill.usd).toBeCloseTo(2.7054, 10);
    const sessions = { ...NO_TRAFFIC, connectionMinutes: 1_000_000, offlineSessionMinutes: 500_000 };
    expect(emqxServerless(sessions).bill.usd).toBeCloseTo(3, 10);
  });

  it('AppSync Events bills a publish and each delivery for every 5 KB begun, connecting, subscribing, and bytes out', () => {
    // (1 + 2) million × 2, and 12 GB × 0.09.
    expect(appSyncEvents(LARGE).bill.usd).toBeCloseTo(6 + 1.08, 10);
    const idle = { ...NO_TRAFFIC, connectionMinutes: 1_000_000, connects: 1_000_000, subscribes: 1_000_000 };
    expect(appSyncEvents(idle).bill.usd).toBeCloseTo(0.08 + 2, 10);
  });

  it('a client subscribes anew with each connection to AppSync Events, also where its session is kept elsewhere', () => {
    const { traffic } = estimate({ clients: 1, days: 1, connectsPerDay: 5, persistentShare: 1 });
    const line = (label: string) =>
      appSyncEvents(traffic).bill.lines.find((each) => each.label === label)?.quantity;
    expect([line('Connecting'), line('Subscribing')]).toEqual([5, 5]);
    expect(awsIotCore(traffic).bill.lines.map(({ label }) => label)).not.toContain('SUBSCRIBE');
  });

  it('IoT Core gives QoS 0 to subscribers that acknowledge nothing at the gateway door, and says what QoS 1 costs', () => {
    const given = { clients: 1, publishesPerHour: 1_000, qos: 1 } as const;
    const offerFor = (more: GivenWorkload) => awsIotCore(estimate({ ...given, ...more }).traffic);
    const acknowledged = (more: GivenWorkload) =>
      offerFor(more).bill.lines.find(({ label }) => label === 'PUBACK from clients')?.quantity ?? 0;
    expect(acknowledged({})).toBe(0);
    expect(acknowledged({ persistentShare: 0.25 })).toBe(180_000);
    expect(acknowledged({ qos: 0, persistentShare: 1 })).toBe(0);
    expect(acknowledged({ persistentShare: 1, offlineShare: 0.5 })).toBe(720_000);
    const notes = (more: GivenWorkload) => offerFor(more).assumptions.join('\n');
    // 43,200 minutes, CONNECT and SUBSCRIBE 30 times, 720,000 in, out and acknowledged.
    expect(notes({})).toContain('$2.16 in all');
    expect(notes({ persistentShare: 1 })).not.toContain('in all');
    expect(notes({ qos: 0 })).not.toContain('in all');
  });

  it('the object door bills what comes in, the time it takes, rows and alarms, beside a plan that includes much', () => {
    // A million PUBLISHes and two million PUBACKs are 150,000 requests.
    const busy = { ...LARGE, clients: 1_000, connectionMinutes: 43_200_000, persistentShare: 0 };
    const { marginalUsd, bill, isFree, misfits } = objectDoor(busy);
    const quantity = (price: string) => bill.lines.find((line) => line.price === price)?.quantity ?? 0;
    // With a PINGREQ a minute, 79 alarms and 7 rows of usage an hour.
    expect(quantity('objectRequest')).toBeCloseTo((43_200_000 + 3_000_000) / 20 + 720 * 79, 6);
    expect(quantity('objectRowWritten')).toBe(720 * (79 + 7));
    // The first million requests, and all rows, are in the plan.
    expect(bill.usd).toBeCloseTo(5 + (2_366_880 - 1_000_000) * 0.15e-6, 10);
    expect(marginalUsd).toBeGreaterThan(2_366_880 * 0.15e-6 + 720 * 79 * 1e-6);
    expect([isFree, misfits]).toEqual([true, []]);
  });

  it('an object is never awake for longer than its clients are connected, and has limits', () => {
    const flood = { ...LARGE, clients: 10_001, connectionMinutes: 10_001, publishes: 60_001 };
    const { bill, misfits } = objectDoor(flood);
    // A minute of 128 MB.
    expect(bill.lines.find(({ price }) => price === 'objectDuration')?.quantity).toBeCloseTo(60 * 0.128, 10);
    expect(misfits).toHaveLength(2);
  });

  it('an empty message counts as one', () => {
    expect(awsIotCore({ ...NO_TRAFFIC, publishes: 1_000_000 }).bill.usd).toBeCloseTo(1, 10);
  });

  it('are listed by their price', () => {
    expect(compare(LARGE).map(({ service }) => service)).toEqual([
      'EMQX Serverless',
      'Apus, object door',
      'AWS AppSync Events',
      'AWS IoT Core',
      'Ably',
    ]);
  });

  it('name the features that they lack', () => {
    const demanding = {
      ...LARGE,
      qos: 2,
      clients: 1_001,
      messagesPerSecond: 1_001,
      queuedDeliveries: 1,
    } as const;
    expect(emqxServerless(demanding).misfits).toHaveLength(2);
    expect(awsIotCore(demanding).misfits).toEqual(['There is no QoS 2.']);
    expect(ably(demanding).misfits).toHaveLength(2);
    expect(appSyncEvents(demanding).misfits).toEqual([
      'There is no QoS 2: a message for a client whose connection is gone is lost.',
      'Nothing is kept for a client that is away.',
    ]);
    const { traffic } = estimate({ clients: 1, publishesPerHour: 1, streamShare: 0.1 });
    for (const offer of [awsIotCore, appSyncEvents])
      expect(offer(traffic).misfits).toEqual(['There is no history.']);
    const large = { ...NO_TRAFFIC, publishes: 1, messageBytes: 240 * 1_024 + 1 };
    expect(appSyncEvents(large).misfits).toEqual(['Messages are at most 240 KB.']);
    expect(compare(NO_TRAFFIC).flatMap((offer) => offer.misfits)).toEqual([]);
  });

  it('list what they assume', () => {
    for (const { assumptions } of compare(LARGE)) expect(assumptions.length).toBeGreaterThan(1);
  });

  it('are cheaper with their free tiers, on request', () => {
    for (const offer of [awsIotCore, objectDoor])
      expect(offer({ ...NO_TRAFFIC, connectionMinutes: 500_000 }, { freeTiers: true }).bill.usd).toBe(0);
  });
});

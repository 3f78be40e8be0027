import { describe, expect, it } from 'vitest';
import { ably, awsIotCore, compare, emqxServerless, NO_TRAFFIC, type Traffic } from '../src/index.ts';

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

  it('an empty message counts as one', () => {
    expect(awsIotCore({ ...NO_TRAFFIC, publishes: 1_000_000 }).bill.usd).toBeCloseTo(1, 10);
  });

  it('are listed by their price', () => {
    expect(compare(LARGE).map(({ service }) => service)).toEqual(['EMQX Serverless', 'AWS IoT Core', 'Ably']);
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
    expect(compare(NO_TRAFFIC).flatMap((offer) => offer.misfits)).toEqual([]);
  });

  it('list what they assume', () => {
    for (const { assumptions } of compare(LARGE)) expect(assumptions.length).toBeGreaterThan(1);
  });

  it('are cheaper with their free tiers, on request', () => {
    const [free] = compare({ ...NO_TRAFFIC, connectionMinutes: 500_000 }, { freeTiers: true });
    expect(free?.bill.usd).toBe(0);
  });
});

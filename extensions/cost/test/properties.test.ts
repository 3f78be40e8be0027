import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addUsage,
  billOf,
  compare,
  estimate,
  scaleUsage,
  USAGE_NAMES,
  type Usage,
  type UsageName,
  usage,
} from '../src/index.ts';

/** Below the only tier (a billion messages): each unit has one price. */
const usages = (most = 100_000_000) =>
  fc
    .record(
      Object.fromEntries(USAGE_NAMES.map((name) => [name, fc.double({ min: 0, max: most, noNaN: true })])),
    )
    .map((given) => usage(given as Partial<Usage>));

const near = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));

describe('a bill', () => {
  it('is additive below the tiers: together costs what the parts cost', () => {
    fc.assert(
      fc.property(usages(), usages(), (a, b) =>
        near(billOf(addUsage(a, b)).usd, billOf(a).usd + billOf(b).usd),
      ),
    );
  });

  it('never costs more together than apart, tiers included', () => {
    fc.assert(
      fc.property(usages(5_000_000_000), usages(5_000_000_000), (a, b) => {
        expect(billOf(addUsage(a, b)).usd).toBeLessThanOrEqual((billOf(a).usd + billOf(b).usd) * (1 + 1e-12));
      }),
    );
  });

  it('grows with each quantity', () => {
    fc.assert(
      fc.property(
        usages(5_000_000_000),
        fc.constantFrom(...USAGE_NAMES),
        fc.double({ min: 0, max: 5e9, noNaN: true }),
        (used, name: UsageName, more) => {
          const grown = { ...used, [name]: used[name] + more };
          expect(billOf(grown).usd).toBeGreaterThanOrEqual(billOf(used).usd * (1 - 1e-12));
        },
      ),
    );
  });

  it('is what its lines add up to, and free tiers never make it dearer', () => {
    fc.assert(
      fc.property(usages(5_000_000_000), (used) => {
        const { lines, usd } = billOf(used);
        expect(
          near(
            lines.reduce((sum, line) => sum + line.usd, 0),
            usd,
          ),
        ).toBe(true);
        expect(billOf(used, { freeTiers: true }).usd).toBeLessThanOrEqual(usd);
      }),
    );
  });

  it('of twice as much is twice as much below the tiers', () => {
    fc.assert(fc.property(usages(), (used) => near(billOf(scaleUsage(used, 2)).usd, 2 * billOf(used).usd)));
  });
});

const workloads = fc.record({
  clients: fc.integer({ min: 1, max: 100_000 }),
  hours: fc.double({ min: 0.5, max: 24, noNaN: true }),
  connectsPerDay: fc.integer({ min: 1, max: 50 }),
  movesPerDay: fc.integer({ min: 0, max: 50 }),
  lossesPerDay: fc.integer({ min: 0, max: 50 }),
  resumedShare: fc.double({ min: 0, max: 1, noNaN: true }),
  subscriptions: fc.integer({ min: 0, max: 20 }),
  publishesPerHour: fc.double({ min: 0, max: 100_000, noNaN: true }),
  publisherShare: fc.double({ min: 0, max: 1, noNaN: true }),
  fanOut: fc.double({ min: 0, max: 5_000, noNaN: true }),
  qos: fc.constantFrom(0, 1, 2),
  bytes: fc.integer({ min: 0, max: 24_000 }),
  persistentShare: fc.double({ min: 0, max: 1, noNaN: true }),
  offlineShare: fc.double({ min: 0, max: 1, noNaN: true }),
});

type Drawn = typeof workloads extends fc.Arbitrary<infer T> ? T : never;

describe('an estimate', () => {
  /** Without heartbeats: a message that comes, or that is answered, proves the connection and saves one. */
  const usdOfMessages = (workload: Drawn) => {
    const counted = estimate(workload).operations.filter(({ name }) => name !== 'heartbeat');
    return billOf(addUsage(...counted.map(({ usage: used }) => used))).usd;
  };

  it('is the sum of its operations', () => {
    fc.assert(
      fc.property(workloads, (workload) => {
        const { usage: whole, operations } = estimate(workload);
        const sum = addUsage(...operations.map((operation) => operation.usage));
        for (const name of USAGE_NAMES) expect(near(sum[name], whole[name])).toBe(true);
      }),
    );
  });

  it.each([
    'clients',
    'publishesPerHour',
    'fanOut',
    'subscriptions',
    'connectsPerDay',
    'movesPerDay',
    'lossesPerDay',
  ] as const)('does not fall when %s grows', (name) => {
    fc.assert(
      fc.property(workloads, fc.integer({ min: 1, max: 1_000 }), (workload, more) => {
        const grown = { ...workload, [name]: workload[name] + more };
        expect(usdOfMessages(grown)).toBeGreaterThanOrEqual(usdOfMessages(workload) * (1 - 1e-9));
      }),
    );
  });

  it('does not fall with a higher QoS', () => {
    fc.assert(
      fc.property(workloads, (drawn) => {
        // An offline client gets no QoS 0 message, which is cheaper than a kept one: compare online clients only.
        const workload = { ...drawn, offlineShare: 0 };
        const [zero, one, two] = ([0, 1, 2] as const).map((qos) => usdOfMessages({ ...workload, qos }));
        expect(one).toBeGreaterThanOrEqual((zero ?? 0) * (1 - 1e-9));
        expect(two).toBeGreaterThanOrEqual((one ?? 0) * (1 - 1e-9));
      }),
    );
  });

  it('is never below the floor', () => {
    fc.assert(
      fc.property(workloads, (workload) => {
        const { usage: used, floor } = estimate(workload);
        expect(billOf(used).usd).toBeGreaterThanOrEqual(floor.usd * (1 - 1e-9));
        for (const name of USAGE_NAMES)
          expect(used[name]).toBeGreaterThanOrEqual(floor.usage[name] * (1 - 1e-9));
      }),
    );
  });

  it('of other services grows with the traffic too', () => {
    fc.assert(
      fc.property(workloads, (workload) => {
        const priceOf = (given: Drawn) =>
          Object.fromEntries(
            compare(estimate(given).traffic).map(({ service, bill }) => [service, bill.usd]),
          );
        const before = priceOf(workload);
        const after = priceOf({ ...workload, publishesPerHour: workload.publishesPerHour * 2 + 1 });
        for (const [service, usd] of Object.entries(before)) {
          expect(after[service]).toBeGreaterThanOrEqual(usd * (1 - 1e-9));
        }
      }),
    );
  });
});

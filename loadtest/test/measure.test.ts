import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CounterSet,
  HEADER_BYTES,
  Latencies,
  microsBetween,
  monotonicMicros,
  Recorder,
  readHeader,
  Sequence,
  wallMicros,
  writeHeader,
} from '../src/measure/index.ts';

const header = fc.record({
  runTag: fc.integer({ min: 0, max: 0xffff }),
  stream: fc.integer({ min: 0, max: 0xffff_ffff }),
  counter: fc.integer({ min: 0, max: 0xffff_ffff }),
  atMicros: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
});

describe('the header of a payload', () => {
  it('is 16 bytes: run tag, stream, counter, microseconds', () => {
    const payload = Buffer.alloc(18, 0xff);
    writeHeader(payload, { runTag: 1, stream: 2, counter: 3, atMicros: 0x0405_0607_0809 }, 2);
    expect(payload.toString('hex')).toBe(`ffff${'0001'}${'00000002'}${'00000003'}${'040506070809'}`);
  });

  it('is read as it was written, at any offset', () => {
    fc.assert(
      fc.property(header, fc.integer({ min: 0, max: 9 }), (written, offset) => {
        const payload = Buffer.alloc(HEADER_BYTES + offset);
        writeHeader(payload, written, offset);
        expect(readHeader(payload, offset)).toEqual(written);
      }),
    );
  });

  it('is not read from too few bytes', () => {
    expect(readHeader(Buffer.alloc(15))).toBeUndefined();
    expect(readHeader(Buffer.alloc(20), 5)).toBeUndefined();
  });
});

describe('the clocks', () => {
  it.each([monotonicMicros, wallMicros])('go on, and fit into 48 bits', (now) => {
    const before = now();
    expect(microsBetween(before, now())).toBeGreaterThanOrEqual(0);
    expect(before).toBeLessThan(2 ** 48);
  });

  it('are compared over the wrap, and never give a negative time', () => {
    expect(microsBetween(2 ** 48 - 10, 5)).toBe(15);
    expect(microsBetween(1_000, 400)).toBe(0);
  });
});

/** The expected results, from a reference that remembers everything. */
function naive(counters: readonly number[]) {
  const seen = new Set<number>();
  let [duplicates, outOfOrder, highest] = [0, 0, -1];
  for (const counter of counters) {
    if (seen.has(counter)) duplicates += 1;
    else if (counter < highest) outOfOrder += 1;
    seen.add(counter);
    highest = Math.max(highest, counter);
  }
  return { received: seen.size, duplicates, outOfOrder, highest, seen };
}

describe('a sequence', () => {
  it('counts what is received, received twice, and received late, as one that remembers everything', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 600 })), (counters) => {
        const sequence = new Sequence();
        for (const counter of counters) sequence.take(counter);
        const { received, duplicates, outOfOrder, highest, seen } = naive(counters);
        expect(sequence).toMatchObject({ received, duplicates, outOfOrder, highest });
        const set = new CounterSet();
        set.add(sequence.seen());
        const missing = Array.from({ length: 700 }, (_, counter) => counter).filter(
          (each) => !seen.has(each),
        );
        expect([...set.missingBelow(700)]).toEqual(missing);
      }),
    );
  });

  it('is one number in a ledger while nothing lacks', () => {
    const sequence = new Sequence();
    for (let counter = 0; counter < 1_000; counter += 1) sequence.take(counter);
    expect(sequence.seen()).toBe(1_000);
    sequence.take(1_001);
    expect(sequence.seen()).toBeTypeOf('string');
  });

  it('of several members contains what any of them has received', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.integer({ min: 0, max: 99 })), { maxLength: 4 }), (members) => {
        const set = new CounterSet();
        for (const counters of members) {
          const sequence = new Sequence();
          for (const counter of counters) sequence.take(counter);
          set.add(sequence.seen());
        }
        const all = new Set(members.flat());
        for (let counter = 0; counter < 110; counter += 1) expect(set.has(counter)).toBe(all.has(counter));
      }),
    );
  });
});

describe('latencies', () => {
  it('give percentiles in milliseconds, within a thousandth', () => {
    const latencies = new Latencies();
    for (let ms = 1; ms <= 1_000; ms += 1) latencies.record(ms * 1_000);
    const { count, mean, p50, p95, p99, p999, max } = latencies.percentiles();
    expect(count).toBe(1_000);
    const expected = { mean: 500.5, p50: 500, p95: 950, p99: 990, p999: 999, max: 1_000 };
    for (const [name, value] of Object.entries({ mean, p50, p95, p99, p999, max })) {
      expect(Math.abs(value / expected[name as keyof typeof expected] - 1)).toBeLessThan(0.002);
    }
  });

  it('survive a ledger and add up', () => {
    const [one, other] = [new Latencies(), new Latencies()];
    one.record(1_000);
    other.record(3_000);
    const sum = new Latencies(one.encode());
    sum.add(new Latencies(other.encode()));
    expect(sum.percentiles()).toMatchObject({ count: 2, max: expect.closeTo(3, 2) });
  });

  it('are zeros without a message, and an hour at most', () => {
    expect(new Latencies().percentiles()).toMatchObject({ count: 0, mean: 0, p99: 0, max: 0 });
    const latencies = new Latencies();
    latencies.record(1e12);
    expect(latencies.percentiles().max).toBeCloseTo(3_600_000, -4);
  });
});

describe('a recorder', () => {
  const options = { runTag: 5, worker: 2, clock: 'monotonic' } as const;

  it('numbers streams by process, so that those of two processes differ', () => {
    const publisher = new Recorder(options).publisher('t', 0, 16);
    expect(publisher.stream).toBe(2 * 2 ** 20);
    expect(() => new Recorder({ ...options, worker: 4_096 })).toThrow(/at most 4096 processes/);
  });

  it('counts what is not of its run as foreign', () => {
    const recorder = new Recorder(options);
    const subscriber = recorder.subscriber(['t']);
    const publisher = new Recorder({ ...options, runTag: 6 }).publisher('t', 0, 16);
    const payload = Buffer.alloc(16);
    publisher.stamp(payload, 0);
    subscriber.take(payload);
    subscriber.take(Buffer.from('hello'));
    writeHeader(payload, { runTag: 5, stream: 1, counter: 2 ** 31, atMicros: 0 });
    subscriber.take(payload);
    const ledger = recorder.ledger();
    expect(ledger).toMatchObject({ foreign: 3, publishesReceived: 3 });
    expect(ledger.subscribers[0]?.streams).toEqual([]);
  });

  it('measures latency from when a message was due, and once for each message', () => {
    const recorder = new Recorder(options);
    const payload = Buffer.alloc(16);
    const dueMicros = recorder.now() - 250_000;
    recorder.publisher('t', 1, 16).stamp(payload, dueMicros);
    const subscriber = recorder.subscriber(['t']);
    expect(subscriber.take(payload)).toBeGreaterThanOrEqual(250_000);
    subscriber.take(payload);
    expect(recorder.delivery.percentiles()).toMatchObject({ count: 1 });
    expect(recorder.delivery.percentiles().max).toBeGreaterThanOrEqual(249);
    expect(recorder.lag.percentiles().max).toBeGreaterThanOrEqual(249);
  });

  it('knows what was acknowledged', () => {
    const recorder = new Recorder(options);
    const publisher = recorder.publisher('t', 1, 16);
    for (let count = 0; count < 3; count += 1) publisher.stamp(Buffer.alloc(16), recorder.now());
    publisher.acknowledged(1);
    publisher.acknowledged(1);
    expect(recorder.ledger().published).toEqual([
      {
        stream: publisher.stream,
        topic: 't',
        qos: 1,
        payloadBytes: 16,
        sent: 3,
        unacknowledged: [0, 2],
        notSent: 0,
      },
    ]);
    expect(recorder.acknowledge.count).toBe(1);
  });

  it('survives JSON', () => {
    const recorder = new Recorder(options);
    recorder.problem('a');
    recorder.problem('a');
    const ledger = recorder.ledger();
    expect(JSON.parse(JSON.stringify(ledger))).toEqual(ledger);
    expect(ledger.connections.problems).toEqual({ a: 2 });
  });
});

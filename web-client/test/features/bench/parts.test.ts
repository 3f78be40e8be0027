import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPayload, writePayload } from '../../../src/features/bench/bench-payload.ts';
import { LatencyRecorder } from '../../../src/features/bench/latency-recorder.ts';
import {
  CONNECTIONS_MAX,
  PAYLOAD_BYTES_MIN,
  RATE_PER_SECOND_MAX,
  SEQUENCE_WINDOW,
} from '../../../src/features/bench/limits.ts';
import { copiesOf, DEFAULT_PLAN, filterOf, problemsOf, topicOf } from '../../../src/features/bench/plan.ts';
import { SequenceTracker } from '../../../src/features/bench/sequence-tracker.ts';

describe('a stream of sequence numbers', () => {
  it('counts an earlier message as a duplicate, and a late one as out of order', () => {
    const tracker = new SequenceTracker();
    const arrivals = [0, 1, 1, 3, 2, 2, 0].map((sequence) => tracker.take(sequence));
    expect(arrivals).toEqual(['next', 'next', 'duplicate', 'next', 'out-of-order', 'duplicate', 'duplicate']);
    expect(tracker.distinct).toBe(4);
  });

  it('agrees with a set of all numbers, within its window', () => {
    const step = fc.integer({ min: -60, max: 200 });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const tracker = new SequenceTracker();
        const seen = new Set<number>();
        let highest = -1;
        for (const change of steps) {
          const sequence = Math.max(0, highest + change);
          const expected = seen.has(sequence) ? 'duplicate' : sequence > highest ? 'next' : 'out-of-order';
          expect(tracker.take(sequence)).toBe(expected);
          seen.add(sequence);
          highest = Math.max(highest, sequence);
          expect(tracker.distinct).toBe(seen.size);
        }
      }),
    );
  });

  it('does not know numbers that are older than its window', () => {
    const tracker = new SequenceTracker();
    tracker.take(0);
    tracker.take(SEQUENCE_WINDOW);
    expect(tracker.take(0)).toBe('out-of-order');
    expect(tracker.take(1)).toBe('out-of-order');
    expect(tracker.take(1)).toBe('duplicate');
    tracker.take(SEQUENCE_WINDOW * 3);
    expect(tracker.take(SEQUENCE_WINDOW * 2 + 1)).toBe('out-of-order');
  });
});

describe('the payload of a run', () => {
  it('carries its stamp at any size, also as a part of a larger buffer', () => {
    const stamp = { publisher: 7, sequence: 4_000_000_000, dueAtMs: 1_234.5678 };
    for (const bytes of [PAYLOAD_BYTES_MIN, 21, 1_000]) {
      const payload = writePayload(stamp, bytes);
      expect(payload).toHaveLength(bytes);
      const larger = new Uint8Array(bytes + 10);
      larger.set(payload, 3);
      expect(readPayload(larger.subarray(3, 3 + bytes))).toEqual(stamp);
    }
  });

  it('is distinguished from payloads of others on its topics', () => {
    expect(readPayload(new Uint8Array(100))).toBeUndefined();
    expect(
      readPayload(writePayload({ publisher: 0, sequence: 0, dueAtMs: 0 }, 20).subarray(0, 19)),
    ).toBeUndefined();
  });
});

describe('latencies', () => {
  it('have percentiles that are right to three digits', () => {
    const recorder = new LatencyRecorder();
    for (let value = 1; value <= 10_000; value += 1) recorder.record(value / 10);
    const summary = recorder.summary();
    expect(summary?.count).toBe(10_000);
    const expected = {
      minMs: 0.1,
      meanMs: 500,
      p50Ms: 500,
      p90Ms: 900,
      p99Ms: 990,
      p999Ms: 999,
      maxMs: 1_000,
    };
    for (const [name, value] of Object.entries(expected)) {
      const given = summary?.[name as keyof typeof expected] ?? 0;
      expect(Math.abs(given - value)).toBeLessThanOrEqual(value * 0.002);
    }
  });

  it('have percentiles that ascend, and none above the highest', () => {
    const latencies = fc.array(fc.double({ min: 0.001, max: 50_000, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(latencies, (all) => {
        const recorder = new LatencyRecorder();
        for (const latency of all) recorder.record(latency);
        const { p50Ms = 0, p90Ms = 0, p99Ms = 0, p999Ms = 0, maxMs = 0 } = recorder.summary() ?? {};
        const ascending = [p50Ms, p90Ms, p99Ms, p999Ms, maxMs];
        expect(ascending).toEqual(ascending.toSorted((a, b) => a - b));
      }),
      { numRuns: 30 },
    );
  });

  it('have bars that hold all of them', () => {
    const latencies = fc.array(fc.double({ min: 0.001, max: 50_000, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(latencies, (all) => {
        const recorder = new LatencyRecorder();
        for (const latency of all) recorder.record(latency);
        const buckets = recorder.buckets();
        expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(all.length);
        expect(buckets[0]?.count).toBeGreaterThan(0);
        expect(buckets.at(-1)?.count).toBeGreaterThan(0);
        // The recorder counts whole microseconds.
        expect(buckets[0]?.fromMs).toBeLessThanOrEqual(Math.min(...all) + 0.0006);
        expect(buckets.at(-1)?.toMs).toBeGreaterThan(Math.max(...all) - 0.0006);
      }),
      { numRuns: 30 },
    );
  });

  it('are none at first, and none again after a reset', () => {
    const recorder = new LatencyRecorder();
    expect([recorder.summary(), recorder.buckets()]).toEqual([undefined, []]);
    recorder.record(5);
    recorder.reset();
    expect([recorder.summary(), recorder.buckets()]).toEqual([undefined, []]);
  });

  it('beyond the longest, and before the clock, count as the ends of the range', () => {
    const recorder = new LatencyRecorder();
    recorder.record(1e9);
    recorder.record(-5);
    expect(recorder.summary()?.minMs).toBe(0.001);
    expect(recorder.summary()?.maxMs).toBeGreaterThanOrEqual(60_000);
  });
});

describe('a plan', () => {
  const plan = { ...DEFAULT_PLAN, publishers: 3, subscribers: 7 };

  it('says how many copies of a message are expected', () => {
    const copies = (fanOut: 'all' | 'pairs' | 'shared'): number[] =>
      [0, 1, 2].map((publisher) => copiesOf(publisher, { ...plan, fanOut }));
    expect(copies('all')).toEqual([7, 7, 7]);
    expect(copies('pairs')).toEqual([3, 2, 2]);
    expect(copies('shared')).toEqual([1, 1, 1]);
    expect(copiesOf(0, { ...plan, subscribers: 0, fanOut: 'shared' })).toBe(0);
  });

  it('gives every subscriber a filter of its run alone', () => {
    expect(topicOf('r', 2)).toBe('bench/r/2');
    expect(filterOf('r', 5, { ...plan, fanOut: 'all' })).toBe('bench/r/+');
    expect(filterOf('r', 5, { ...plan, fanOut: 'pairs' })).toBe('bench/r/2');
    expect(filterOf('r', 5, { ...plan, fanOut: 'shared' })).toBe('$share/bench-r/bench/r/+');
  });

  it('names the numbers that are out of range, at the boundary', () => {
    expect(problemsOf(DEFAULT_PLAN)).toEqual([]);
    expect(problemsOf({ ...plan, ratePerSecond: RATE_PER_SECOND_MAX })).toEqual([]);
    expect(problemsOf({ ...plan, ratePerSecond: RATE_PER_SECOND_MAX + 1 })).toEqual(['ratePerSecond']);
    expect(problemsOf({ ...plan, payloadBytes: PAYLOAD_BYTES_MIN - 1, durationSeconds: 0.5 })).toEqual([
      'payloadBytes',
      'durationSeconds',
    ]);
    expect(problemsOf({ ...plan, publishers: 1, subscribers: CONNECTIONS_MAX - 1 })).toEqual([]);
    expect(problemsOf({ ...plan, publishers: 2, subscribers: CONNECTIONS_MAX - 1 })).toEqual(['connections']);
  });
});

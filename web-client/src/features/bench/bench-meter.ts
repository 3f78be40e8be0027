import type { Stamp } from './bench-payload.ts';
import { LatencyRecorder } from './latency-recorder.ts';
import { DRAIN_SECONDS, DURATION_SECONDS_MAX } from './limits.ts';
import { type BenchPlan, copiesOf } from './plan.ts';
import type { BenchSecond, BenchSnapshot } from './result.ts';
import { SequenceTracker } from './sequence-tracker.ts';

/** Rows after the longest run, for late messages. */
const SECONDS_MAX = DURATION_SECONDS_MAX + DRAIN_SECONDS;

/** Counts the messages of a run: published, received, lost, doubled, out of order; and measures their latency. */
export class BenchMeter {
  readonly #plan: BenchPlan;
  readonly #latency = new LatencyRecorder();
  readonly #secondLatency = new LatencyRecorder();
  readonly #streams = new Map<number, SequenceTracker>();
  readonly #seconds: BenchSecond[] = [];
  #published = 0;
  #expected = 0;
  #received = 0;
  #distinct = 0;
  #duplicates = 0;
  #outOfOrder = 0;
  #publishedInSecond = 0;
  #receivedInSecond = 0;

  constructor(plan: BenchPlan) {
    this.#plan = plan;
  }

  get published(): number {
    return this.#published;
  }

  get missing(): number {
    return this.#expected - this.#distinct;
  }

  publishedBy(publisher: number): void {
    this.#published += 1;
    this.#publishedInSecond += 1;
    this.#expected += copiesOf(publisher, this.#plan);
  }

  receivedBy(subscriber: number, { publisher, sequence, dueAtMs }: Stamp, atMs: number): void {
    this.#received += 1;
    this.#receivedInSecond += 1;
    const arrival = this.#streamOf(subscriber, publisher).take(sequence);
    if (arrival === 'duplicate') {
      this.#duplicates += 1;
      return;
    }
    this.#distinct += 1;
    // A shared subscription promises no order among its members.
    if (arrival === 'out-of-order' && this.#plan.fanOut !== 'shared') this.#outOfOrder += 1;
    this.#latency.record(atMs - dueAtMs);
    this.#secondLatency.record(atMs - dueAtMs);
  }

  /** Ends a second of the table. */
  endSecond(): void {
    if (this.#seconds.length >= SECONDS_MAX) return;
    const latency = this.#secondLatency.summary();
    this.#seconds.push({
      published: this.#publishedInSecond,
      received: this.#receivedInSecond,
      p50Ms: latency?.p50Ms,
      p99Ms: latency?.p99Ms,
      maxMs: latency?.maxMs,
    });
    this.#publishedInSecond = 0;
    this.#receivedInSecond = 0;
    this.#secondLatency.reset();
  }

  snapshot(): Omit<BenchSnapshot, 'phase' | 'connected' | 'acknowledged' | 'failed' | 'behind' | 'trouble'> {
    return {
      published: this.#published,
      expected: this.#expected,
      received: this.#received,
      missing: this.missing,
      duplicates: this.#duplicates,
      outOfOrder: this.#outOfOrder,
      latency: this.#latency.summary(),
      buckets: this.#latency.buckets(),
      seconds: [...this.#seconds],
    };
  }

  #streamOf(subscriber: number, publisher: number): SequenceTracker {
    // Any member of a shared subscription may get a message: if two of them get it, it is a duplicate, too.
    const key = (this.#plan.fanOut === 'shared' ? 0 : subscriber) * STREAMS_PER_SUBSCRIBER + publisher;
    let stream = this.#streams.get(key);
    if (stream === undefined) {
      stream = new SequenceTracker();
      this.#streams.set(key, stream);
    }
    return stream;
  }
}

/** More than the possible number of publishers. */
const STREAMS_PER_SUBSCRIBER = 65_536;

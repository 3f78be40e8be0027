import type { Qos, Trouble } from '../../engine/types.ts';
import { BenchMeter } from './bench-meter.ts';
import { readPayload, writePayload } from './bench-payload.ts';
import { DRAIN_SECONDS, OPENING_MAX, OUTSTANDING_MAX, SNAPSHOT_INTERVAL_MS, TICK_MS } from './limits.ts';
import { type BenchPlan, filterOf, topicOf } from './plan.ts';
import type { BenchPhase, BenchSnapshot } from './result.ts';

/** One connection of a run. */
export interface BenchClient {
  /** Resolves with the reason if the server refuses. */
  subscribe(filter: string, qos: Qos): Promise<Trouble | undefined>;
  /** Calls `done` once: whether the publish was acknowledged, or at QoS 0 written. */
  publish(topic: string, payload: Uint8Array, qos: Qos, done: (isOk: boolean) => void): void;
  onMessage(listener: (payload: Uint8Array) => void): void;
  /** Called when the connection is lost during the run. */
  onLost(listener: (trouble: Trouble) => void): void;
  end(): void;
}

/** The environment of a run. */
export interface BenchEnvironment {
  /** Resolves with the reason if the connection fails. */
  open(clientId: string): Promise<BenchClient | Trouble>;
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  later(callback: () => void, delayMs: number): () => void;
  report(snapshot: BenchSnapshot): void;
}

interface Publisher {
  readonly client: BenchClient;
  readonly topic: string;
  sequence: number;
  outstanding: number;
}

/** A run: opens the connections, publishes at the rate, waits for the last messages, and reports its progress. */
export class BenchRun {
  readonly #plan: BenchPlan;
  readonly #run: string;
  readonly #environment: BenchEnvironment;
  readonly #meter: BenchMeter;
  readonly #clients: BenchClient[] = [];
  readonly #publishers: Publisher[] = [];
  #phase: BenchPhase = 'connecting';
  #trouble: Trouble | undefined;
  #connected = 0;
  #acknowledged = 0;
  #failed = 0;
  #due = 0;
  #startedAtMs = 0;
  #lastReceivedAtMs = 0;
  #nextSecondAtMs = 0;
  #nextReportAtMs = 0;
  #cancelTick = (): void => {};

  /** @param run a unique name */
  constructor(plan: BenchPlan, run: string, environment: BenchEnvironment) {
    this.#plan = plan;
    this.#run = run;
    this.#environment = environment;
    this.#meter = new BenchMeter(plan);
  }

  async start(): Promise<void> {
    await this.#openAll();
    if (this.#isOver()) return;
    this.#phase = 'publishing';
    this.#startedAtMs = this.#environment.now();
    this.#lastReceivedAtMs = this.#startedAtMs;
    this.#nextSecondAtMs = this.#startedAtMs + 1_000;
    this.#tick();
  }

  stop(): void {
    if (!this.#isOver()) this.#end('stopped');
  }

  async #openAll(): Promise<void> {
    const { subscribers, publishers } = this.#plan;
    // Subscribers first: a message without subscribers would count as lost.
    await this.#openEach(subscribers, (index) => this.#openSubscriber(index));
    await this.#openEach(publishers, (index) => this.#openPublisher(index));
  }

  async #openEach(count: number, open: (index: number) => Promise<void>): Promise<void> {
    let next = 0;
    const openNext = async (): Promise<void> => {
      while (next < count && !this.#isOver()) {
        const index = next;
        next += 1;
        await open(index);
        if (this.#isOver()) return;
        this.#connected += 1;
        this.#report();
      }
    };
    await Promise.all(Array.from({ length: Math.min(OPENING_MAX, count) }, openNext));
  }

  async #openSubscriber(index: number): Promise<void> {
    const client = await this.#open(`bench-${this.#run}-s${index}`);
    if (client === undefined) return;
    client.onMessage((payload) => {
      const atMs = this.#environment.now();
      const stamp = readPayload(payload);
      if (stamp === undefined) return;
      this.#lastReceivedAtMs = atMs;
      this.#meter.receivedBy(index, stamp, atMs);
    });
    const trouble = await client.subscribe(filterOf(this.#run, index, this.#plan), this.#plan.qos);
    if (trouble !== undefined) this.#fail(trouble);
  }

  async #openPublisher(index: number): Promise<void> {
    const client = await this.#open(`bench-${this.#run}-p${index}`);
    if (client === undefined) return;
    this.#publishers[index] = { client, topic: topicOf(this.#run, index), sequence: 0, outstanding: 0 };
  }

  /** Undefined when the run is over, perhaps because of this very connection. */
  async #open(clientId: string): Promise<BenchClient | undefined> {
    const opened = await this.#environment.open(clientId);
    if ('kind' in opened) {
      this.#fail(opened);
      return undefined;
    }
    if (this.#isOver()) {
      opened.end();
      return undefined;
    }
    this.#clients.push(opened);
    opened.onLost((trouble) => this.#fail(trouble));
    return opened;
  }

  #fail(trouble: Trouble): void {
    if (this.#isOver()) return;
    this.#trouble = trouble;
    this.#end('failed');
  }

  #tick(): void {
    const now = this.#environment.now();
    if (this.#phase === 'publishing') this.#publishDue(now);
    while (now >= this.#nextSecondAtMs) {
      this.#meter.endSecond();
      this.#nextSecondAtMs += 1_000;
    }
    // Messages that are still due at the end are not published: a run that cannot hold its rate ends in time and
    // reports it.
    if (this.#phase === 'publishing' && now >= this.#endsAtMs) this.#phase = 'draining';
    if (this.#phase === 'draining' && this.#isDrained(now)) {
      this.#end('done');
      return;
    }
    if (now >= this.#nextReportAtMs) this.#report();
    this.#cancelTick = this.#environment.later(() => this.#tick(), TICK_MS);
  }

  get #published(): number {
    return this.#meter.published;
  }

  get #endsAtMs(): number {
    return this.#startedAtMs + this.#plan.durationSeconds * 1_000;
  }

  get #total(): number {
    return this.#plan.ratePerSecond * this.#plan.durationSeconds;
  }

  /** Publishers take turns. Each message contains the time when it was due, so that waiting counts as latency. */
  #publishDue(now: number): void {
    const { ratePerSecond, payloadBytes, qos } = this.#plan;
    this.#due = Math.min(this.#total, Math.floor(((now - this.#startedAtMs) * ratePerSecond) / 1_000) + 1);
    while (this.#published < this.#due) {
      const index = this.#published % this.#publishers.length;
      const publisher = this.#publishers[index];
      if (publisher === undefined || publisher.outstanding >= OUTSTANDING_MAX) return;
      const dueAtMs = this.#startedAtMs + (this.#published * 1_000) / ratePerSecond;
      const payload = writePayload({ publisher: index, sequence: publisher.sequence, dueAtMs }, payloadBytes);
      publisher.sequence += 1;
      publisher.outstanding += 1;
      this.#meter.publishedBy(index);
      publisher.client.publish(publisher.topic, payload, qos, (isOk) => {
        publisher.outstanding -= 1;
        if (isOk) this.#acknowledged += 1;
        else this.#failed += 1;
      });
    }
  }

  #isDrained(now: number): boolean {
    const isAnswered = this.#acknowledged + this.#failed === this.#published;
    if (isAnswered && this.#meter.missing <= 0) return true;
    const lastAtMs = Math.max(this.#lastReceivedAtMs, this.#endsAtMs);
    return now - lastAtMs >= DRAIN_SECONDS * 1_000;
  }

  #isOver(): boolean {
    return this.#phase === 'done' || this.#phase === 'stopped' || this.#phase === 'failed';
  }

  #end(phase: BenchPhase): void {
    this.#cancelTick();
    this.#phase = phase;
    if (this.#startedAtMs > 0) this.#meter.endSecond();
    this.#report();
    for (const client of this.#clients) client.end();
  }

  #report(): void {
    this.#nextReportAtMs = this.#environment.now() + SNAPSHOT_INTERVAL_MS;
    this.#environment.report({
      ...this.#meter.snapshot(),
      phase: this.#phase,
      connected: this.#connected,
      acknowledged: this.#acknowledged,
      failed: this.#failed,
      behind: Math.max(0, this.#due - this.#published),
      trouble: this.#trouble,
    });
  }
}

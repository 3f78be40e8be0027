import { matches, parseShared } from '@apus/mqtt/topic';
import { describe, expect, it } from 'vitest';
import type { Trouble } from '../../../src/engine/types.ts';
import { type BenchClient, type BenchEnvironment, BenchRun } from '../../../src/features/bench/bench-run.ts';
import { DRAIN_SECONDS, OUTSTANDING_MAX } from '../../../src/features/bench/limits.ts';
import { type BenchPlan, DEFAULT_PLAN } from '../../../src/features/bench/plan.ts';
import type { BenchSnapshot } from '../../../src/features/bench/result.ts';

const REFUSED: Trouble = { kind: 'reason', code: 0x87, detail: '', atMs: 0 };
const LOST: Trouble = { kind: 'closed', code: 1006, detail: '', atMs: 0 };

/** A broker, a clock and a browser in one, all of which the test moves. */
class World implements BenchEnvironment {
  readonly snapshots: BenchSnapshot[] = [];
  readonly clientIds: string[] = [];
  /** Milliseconds from a publish to its delivery. */
  latencyMs = 2;
  /** How often each message is delivered to matching subscribers; a test loses or doubles some. */
  copies = (_number: number): number => 1;
  acknowledges = true;
  refuse = (_clientId: string): boolean => false;
  subscribeTrouble: Trouble | undefined;
  ended = 0;
  #nowMs = 1_000;
  #published = 0;
  #timers: { readonly atMs: number; readonly callback: () => void }[] = [];
  #subscriptions: { readonly filter: string; readonly listener: (payload: Uint8Array) => void }[] = [];
  #lost: ((trouble: Trouble) => void)[] = [];

  get last(): BenchSnapshot {
    const last = this.snapshots.at(-1);
    if (last === undefined) throw new Error('nothing was reported');
    return last;
  }

  now = (): number => this.#nowMs;

  later = (callback: () => void, delayMs: number): (() => void) => {
    const timer = { atMs: this.#nowMs + delayMs, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  };

  report = (snapshot: BenchSnapshot): void => void this.snapshots.push(snapshot);

  open = (clientId: string): Promise<BenchClient | Trouble> => {
    if (this.refuse(clientId)) return Promise.resolve(REFUSED);
    this.clientIds.push(clientId);
    return Promise.resolve(this.#client());
  };

  loseAll(): void {
    for (const listener of this.#lost) listener(LOST);
  }

  advance(ms: number): void {
    const end = this.#nowMs + ms;
    for (;;) {
      const [next] = this.#timers.filter(({ atMs }) => atMs <= end).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#nowMs = next.atMs;
      next.callback();
    }
    this.#nowMs = end;
  }

  #client(): BenchClient {
    let listener = (_payload: Uint8Array): void => {};
    return {
      subscribe: (filter) => {
        const parsed = parseShared(filter);
        const inner = 'topicFilter' in parsed ? parsed.topicFilter : filter;
        this.#subscriptions.push({ filter: inner, listener: (payload) => listener(payload) });
        return Promise.resolve(this.subscribeTrouble);
      },
      publish: (topic, payload, _qos, done) => {
        const number = this.#published;
        this.#published += 1;
        for (const subscription of this.#subscriptions.filter(({ filter }) => matches(filter, topic))) {
          for (let copy = 0; copy < this.copies(number); copy += 1) {
            this.later(() => subscription.listener(payload), this.latencyMs);
          }
        }
        if (this.acknowledges) this.later(() => done(true), 1);
      },
      onMessage: (given) => {
        listener = given;
      },
      onLost: (given) => void this.#lost.push(given),
      end: () => {
        this.ended += 1;
      },
    };
  }
}

async function running(world: World, plan: Partial<BenchPlan>): Promise<BenchRun> {
  const run = new BenchRun({ ...DEFAULT_PLAN, ...plan }, 'test', world);
  await run.start();
  return run;
}

describe('a run', () => {
  it('publishes at its rate, receives everything, and ends', async () => {
    const world = new World();
    await running(world, {
      publishers: 2,
      subscribers: 3,
      fanOut: 'all',
      ratePerSecond: 100,
      durationSeconds: 2,
    });
    world.advance(1_000);
    expect(world.last.phase).toBe('publishing');
    expect(Math.abs(world.last.published - 100)).toBeLessThanOrEqual(26);
    world.advance(1_100);
    expect(world.last).toMatchObject({
      phase: 'done',
      connected: 5,
      published: 200,
      acknowledged: 200,
      expected: 600,
      received: 600,
      missing: 0,
      duplicates: 0,
      outOfOrder: 0,
      trouble: undefined,
    });
    expect(world.last.seconds.reduce((sum, { published }) => sum + published, 0)).toBe(200);
    expect(world.last.seconds.reduce((sum, { received }) => sum + received, 0)).toBe(600);
    expect(world.ended).toBe(5);
  });

  it('measures latency from when a message was due', async () => {
    const world = new World();
    world.latencyMs = 20;
    await running(world, { ratePerSecond: 1_000, durationSeconds: 1 });
    world.advance(1_100);
    // The tick of 5 ms is part of it.
    expect(world.last.latency?.minMs).toBeGreaterThanOrEqual(20);
    expect(world.last.latency?.maxMs).toBeLessThanOrEqual(25.1);
    expect(world.last.buckets.reduce((sum, { count }) => sum + count, 0)).toBe(world.last.received);
  });

  it('counts lost messages, after it has waited', async () => {
    const world = new World();
    world.copies = (number) => (number % 10 === 3 ? 0 : 1);
    await running(world, { publishers: 1, subscribers: 1, ratePerSecond: 100, durationSeconds: 1 });
    world.advance(1_000 + DRAIN_SECONDS * 1_000 - 100);
    expect(world.last.phase).toBe('draining');
    world.advance(200);
    expect(world.last).toMatchObject({
      phase: 'done',
      expected: 100,
      received: 90,
      missing: 10,
      outOfOrder: 0,
    });
  });

  it('counts duplicates, and does not take them for missing messages', async () => {
    const world = new World();
    world.copies = (number) => (number === 5 ? 3 : number === 7 ? 0 : 1);
    await running(world, { publishers: 1, subscribers: 1, ratePerSecond: 100, durationSeconds: 1 });
    world.advance(10_000);
    expect(world.last).toMatchObject({ received: 101, duplicates: 2, missing: 1 });
  });

  it('counts messages out of order', async () => {
    const world = new World();
    await running(world, { publishers: 1, subscribers: 1, ratePerSecond: 100, durationSeconds: 1 });
    world.latencyMs = 50;
    world.advance(500);
    world.latencyMs = 1;
    world.advance(10_000);
    expect(world.last.outOfOrder).toBeGreaterThan(2);
    expect(world.last).toMatchObject({ missing: 0, duplicates: 0 });
  });

  it('holds back while nothing is acknowledged, reports it, and ends in time', async () => {
    const world = new World();
    world.acknowledges = false;
    await running(world, { publishers: 1, subscribers: 0, ratePerSecond: 2_000, durationSeconds: 1 });
    world.advance(900);
    expect(world.last.published).toBe(OUTSTANDING_MAX);
    expect(world.last.behind).toBeGreaterThan(300);
    world.advance(200 + DRAIN_SECONDS * 1_000);
    expect(world.last).toMatchObject({
      phase: 'done',
      published: OUTSTANDING_MAX,
      behind: 1_000,
      acknowledged: 0,
    });
  });

  it('ends at once when it is stopped, and closes its connections', async () => {
    const world = new World();
    const run = await running(world, { publishers: 2, subscribers: 2 });
    world.advance(1_000);
    run.stop();
    const { length } = world.snapshots;
    expect(world.last.phase).toBe('stopped');
    expect(world.ended).toBe(4);
    world.advance(10_000);
    expect(world.snapshots).toHaveLength(length);
  });

  it('fails with the reason for which a connection was refused', async () => {
    const world = new World();
    world.refuse = (clientId) => clientId.endsWith('p1');
    await running(world, { publishers: 2, subscribers: 2 });
    expect(world.last).toMatchObject({ phase: 'failed', trouble: REFUSED });
    expect(world.ended).toBe(world.clientIds.length);
  });

  it('fails with the reason for which a subscription was refused', async () => {
    const world = new World();
    world.subscribeTrouble = REFUSED;
    await running(world, {});
    expect(world.last).toMatchObject({ phase: 'failed', trouble: REFUSED });
    expect(world.clientIds.some((id) => id.includes('-p'))).toBe(false);
  });

  it('fails when a connection is lost', async () => {
    const world = new World();
    await running(world, {});
    world.advance(500);
    world.loseAll();
    expect(world.last).toMatchObject({ phase: 'failed', trouble: LOST });
  });
});

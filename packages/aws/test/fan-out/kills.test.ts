import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gate } from '../../../../test/support/gate.ts';
import { runs } from '../../../../test/support/runs.ts';
import { never, type Process, World } from '../support/fan-out.ts';

/** Subscribers in the shard, half of them at QoS 0, and slices of three. */
const SUBSCRIBERS = 8;
const LIMITS = { sliceSubscribersMax: 3, attemptsMax: 100 };

interface Audience {
  readonly world: World;
  readonly zero: readonly string[];
  readonly one: readonly string[];
}

async function audience(): Promise<Audience> {
  const world = await World.create();
  await world.subscribers(1);
  const zero = await world.subscribers(SUBSCRIBERS / 2, { qos: 0 });
  const one = await world.subscribers(SUBSCRIBERS / 2, { qos: 1 });
  return { world, zero, one };
}

/** Checks MQTT's promises: QoS 0 at most once, QoS 1 at least once, first receipts in the publisher's order. */
function check({ world, zero, one }: Audience, texts: readonly string[]): void {
  checkQoS0(world, zero);
  for (const id of zero) {
    const got = world.gateway.textsTo(id);
    expect(got, 'QoS 0 in order').toEqual(texts.filter((text) => got.includes(text)));
  }
  for (const id of one) {
    expect([...new Set(world.gateway.textsTo(id))], 'QoS 1 never lost, in order').toEqual(texts);
  }
}

function checkQoS0(world: World, ids: readonly string[]): void {
  for (const id of ids) {
    const got = world.gateway.textsTo(id);
    expect(got, 'QoS 0 never twice').toEqual([...new Set(got)]);
  }
}

/** Where a worker may stop for ever: before and after each of its calls. */
class Steps {
  taken = 0;
  readonly #at: number;
  readonly #stop: () => Promise<void>;

  constructor(at: number, stop: () => Promise<void>) {
    this.#at = at;
    this.#stop = stop;
  }

  step = async (): Promise<void> => {
    this.taken += 1;
    if (this.taken === this.#at) await this.#stop();
  };
}

/** A worker that stops at the given step of its calls to DynamoDB and to the gateway. */
function workerStoppingAt(
  world: World,
  at: number,
  stop: () => Promise<void>,
): { worker: Process; steps: Steps } {
  const steps = new Steps(at, stop);
  const worker = world.process({
    limits: LIMITS,
    hooks: { before: steps.step, after: steps.step },
    wrap: (poster) => ({
      ...poster,
      attempt: async (...call) => {
        await steps.step();
        const outcome = await poster.attempt(...call);
        await steps.step();
        return outcome;
      },
    }),
  });
  return { worker, steps };
}

/** Resolves when the worker has answered, or can do nothing more. */
async function stopped(work: Promise<unknown>, world: World): Promise<void> {
  let isOver = false;
  void work.finally(() => {
    isOver = true;
  });
  for (let idle = 0; idle < 3 && !isOver; ) {
    const before = world.gateway.attempts.length;
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    idle = world.gateway.attempts.length === before ? idle + 1 : 0;
  }
}

async function stepsOfOneBatch(): Promise<number> {
  const { world } = await audience();
  await world.publish(['a', 'b']);
  const { worker, steps } = workerStoppingAt(world, Number.POSITIVE_INFINITY, never);
  await worker.work(world.queue.receive());
  return steps.taken;
}

describe('a worker that dies', () => {
  it('at any step loses nothing at QoS 1, doubles nothing at QoS 0, and changes no order', async () => {
    const steps = await stepsOfOneBatch();
    expect(steps).toBeGreaterThan(20);
    const everybody = await audience();
    const { world } = everybody;
    const texts: string[] = [];
    for (let at = 1; at <= steps; at += 1) {
      const pair = [`${at}a`, `${at}b`];
      texts.push(...pair);
      await world.publish(pair);
      const records = world.queue.receive();
      await stopped(workerStoppingAt(world, at, never).worker.work(records), world);
      expect(await world.process({ limits: LIMITS }).failuresOf(records), `killed at step ${at}`).toEqual([]);
      check(everybody, texts);
    }
  });

  it('and whose successors die too, with new jobs behind the old ones, and batches of any cut', async () => {
    const kill = fc.record({
      at: fc.integer({ min: 1, max: 40 }),
      published: fc.integer({ min: 0, max: 3 }),
      received: fc.integer({ min: 1, max: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(kill, { minLength: 1, maxLength: 8 }), async (kills) => {
        const everybody = await audience();
        const { world } = everybody;
        const texts: string[] = [];
        const publish = async (count: number) => {
          const more = Array.from({ length: count }, (_, index) => String(texts.length + index));
          texts.push(...more);
          await world.publish(more);
        };
        await publish(2);
        let waiting = world.queue.receive();
        for (const { at, published, received } of kills) {
          await publish(published);
          waiting = [...waiting, ...world.queue.receive()];
          const batch = waiting.slice(0, received);
          const { worker, steps } = workerStoppingAt(world, at, never);
          await stopped(worker.work(batch), world);
          // It has come to its end before its step came.
          if (steps.taken < at) waiting = waiting.slice(received);
        }
        const last = world.process({ limits: LIMITS });
        while (waiting.length > 0) {
          const failures = await last.failuresOf(waiting.slice(0, 10));
          expect(failures).toEqual([]);
          waiting = waiting.slice(10);
        }
        check(everybody, texts);
      }),
      { numRuns: runs(60) },
    );
  }, 120_000);

  it('repeats the claimed slice under the same packet ids with DUP, and no other', async () => {
    const { world, one } = await audience();
    await world.publish(['a']);
    const records = world.queue.receive();
    let posts = 0;
    world.gateway.answer = () => (++posts === 5 ? never() : 'sent');
    await stopped(world.process({ limits: LIMITS }).work(records), world);
    const successor = world.process({ limits: LIMITS });
    await successor.work(records);
    expect(successor.counts).toMatchObject([{ repeatedSlices: 1, slices: 1 }]);
    const repeated = one.map((id) => world.gateway.packetsTo(id)).filter(({ length }) => length === 2);
    expect(repeated.length).toBeGreaterThan(0);
    for (const [first, again] of repeated) {
      expect(first?.dup).toBe(false);
      expect(again).toEqual({ ...first, dup: true });
    }
  });

  it('leaves a slice without a claim whole: it is no repetition, and QoS 0 messages are sent too', async () => {
    const { world, zero, one } = await audience();
    await world.publish(['a']);
    const records = world.queue.receive();
    const { worker } = workerStoppingAt(world, 3, never);
    await stopped(worker.work(records), world);
    expect(world.gateway.posts.filter(({ by }) => by !== 'door')).toEqual([]);
    await world.process({ limits: LIMITS }).work(records);
    for (const id of [...zero, ...one]) expect(world.gateway.packetsTo(id)).toMatchObject([{ dup: false }]);
  });

  it('does not repeat the slice to a subscriber that has joined the shard behind it', async () => {
    const { world } = await audience();
    await world.publish(['a']);
    const records = world.queue.receive();
    let claims = 0;
    const worker = world.process({
      hooks: { after: (call) => (call === 'claim' && ++claims === 1 ? never() : undefined) },
    });
    await stopped(worker.work(records), world);
    const before = new Set(world.gateway.posts);
    const joined = await world.subscribers(6, { qos: 1 });
    const successor = world.process();
    await successor.work(records);
    const reached = new Set(
      world.gateway.posts.filter((post) => !before.has(post)).map(({ connectionId }) => connectionId),
    );
    // Keys ascend with time here: all who have joined stand behind the claim's end.
    for (const id of joined) expect(reached.has(id)).toBe(false);
    expect(reached.size).toBe(SUBSCRIBERS / 2);
  });
});

describe('a worker whose shard another worker has taken over', () => {
  it('at any step stops when it wakes: it has lost the shard to the one that took it over', async () => {
    const steps = await stepsOfOneBatch();
    const everybody = await audience();
    const { world } = everybody;
    const texts: string[] = [];
    for (let at = 1; at < steps; at += 1) {
      const pair = [`${at}a`, `${at}b`];
      texts.push(...pair);
      await world.publish(pair);
      const records = world.queue.receive();
      const held = gate();
      const { worker } = workerStoppingAt(world, at, () => held.opened);
      const work = worker.work(records);
      await stopped(work, world);
      expect(await world.process({ limits: LIMITS }).failuresOf(records)).toEqual([]);
      held.open();
      await work;
      check(everybody, texts);
    }
  });

  it('posts nothing after its time limit, for any claim, also behind the next batch', async () => {
    const steps = await stepsOfOneBatch();
    const everybody = await audience();
    const { world, zero, one } = everybody;
    const texts: string[] = [];
    for (let at = 1; at < steps; at += 1) {
      texts.push(`${at}a`, `${at}b`);
      await world.publish(texts.slice(-2));
      const records = world.queue.receive();
      const held = gate();
      const { worker } = workerStoppingAt(world, at, () => held.opened);
      const work = worker.work(records);
      await stopped(work, world);
      world.time.nowMs += 30_000;
      const successor = world.process({ limits: LIMITS });
      expect(await successor.failuresOf(records)).toEqual([]);
      texts.push(`${at}c`);
      await world.publish(texts.slice(-1));
      const next = world.queue.receive();
      expect(await successor.failuresOf(next)).toEqual([]);
      const before = world.gateway.posts.length;
      held.open();
      await work;
      // Posts that had left for the gateway when it was frozen still arrive; no further one is made.
      const late = world.gateway.posts.length - before;
      expect(late, `woken at step ${at}`).toBeLessThanOrEqual(LIMITS.sliceSubscribersMax);
      checkQoS0(world, zero);
      for (const id of one) {
        expect(new Set(world.gateway.textsTo(id)), 'QoS 1 never lost').toEqual(new Set(texts));
      }
      // And the shard goes on being served.
      texts.push(`${at}d`);
      await world.publish(texts.slice(-1));
      expect(await successor.failuresOf(world.queue.receive())).toEqual([]);
    }
  });

  it('begins no batch when a later one has begun, even within its time', async () => {
    const everybody = await audience();
    const { world } = everybody;
    await world.publish(['a']);
    const records = world.queue.receive();
    const held = gate();
    let claims = 0;
    const stale = world.process({
      hooks: { before: (call) => (call === 'claim' && ++claims === 1 ? held.opened : undefined) },
    });
    const work = stale.failuresOf(records);
    await stopped(work, world);
    const successor = world.process();
    expect(await successor.failuresOf(records)).toEqual([]);
    await world.publish(['b']);
    expect(await successor.failuresOf(world.queue.receive())).toEqual([]);
    const posts = world.gateway.posts.length;
    held.open();
    expect(await work).toEqual(records.map(({ messageId }) => messageId));
    expect(world.gateway.posts).toHaveLength(posts);
    expect(stale.givenBack).toEqual([]);
    check(everybody, ['a', 'b']);
  });
});

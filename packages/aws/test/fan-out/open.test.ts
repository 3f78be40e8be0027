import { describe, expect, it } from 'vitest';
import { gate } from '../../../../test/support/gate.ts';
import type { SqsRecord } from '../../src/events/sqs.ts';
import type { Poster } from '../../src/posts/poster.ts';
import type { Attempt } from '../support/fake-gateway.ts';
import { never, type Process, World } from '../support/fan-out.ts';

const LIMITS = { sliceSubscribersMax: 1, attemptsMax: 4, attemptsTogetherMax: 2 };

const ofWorkers = ({ by }: Attempt) => by !== 'door';

interface Dying {
  readonly worker: Process;
  /** Resolves when it does nothing more. */
  readonly died: Promise<void>;
}

/** A worker that dies when it has written so many claims. */
function dyingAtClaim(
  world: World,
  claim: number,
  limits: Partial<typeof LIMITS> = LIMITS,
  calls: Partial<Pick<Poster, 'delete'>> = {},
): Dying {
  const death = gate();
  let claims = 0;
  let isDead = false;
  const worker = world.process({
    limits,
    hooks: {
      after: (call) => {
        if (call !== 'claim' || ++claims !== claim) return;
        isDead = true;
        death.open();
        return never();
      },
    },
    wrap: (poster) => ({
      ...poster,
      ...calls,
      attempt: (...call) => (isDead ? never() : poster.attempt(...call)),
      get: (...call) => (isDead ? never() : poster.get(...call)),
    }),
  });
  return { worker, died: death.opened };
}

/** The first post of a worker to this connection comes to that; all others are taken. */
function refuseOnce(world: World, id: string, outcome: 'throttled' | 'failed'): void {
  let isRefused = false;
  world.gateway.answer = ({ connectionId, by }) => {
    if (connectionId !== id || by === 'door' || isRefused) return 'sent';
    isRefused = true;
    return outcome;
  };
}

/** A batch of two runs: a worker has begun the first job and died, and then the second one has come. */
async function twoRuns(world: World, fields: { qos: number } = { qos: 1 }): Promise<SqsRecord[]> {
  await world.publish(['a'], fields);
  const first = world.queue.receive();
  const { worker, died } = dyingAtClaim(world, 1, {});
  void worker.work(first);
  await died;
  await world.publish(['b'], fields);
  return [...first, ...world.queue.receive()];
}

function expectAllToGet(world: World, ids: readonly string[], texts: readonly string[]): void {
  for (const id of ids) expect([...new Set(world.gateway.textsTo(id))], id).toEqual(texts);
}

describe('a connection that is neither served nor closed before the time is out', () => {
  it.each([1, 10])(
    'misses no job of a batch whose jobs have made equal progress: slices of %i',
    async (size) => {
      const world = await World.create();
      const all = await world.subscribers(4);
      const records = await twoRuns(world);
      world.gateway.answer = ({ connectionId }) => (connectionId === all[1] ? 'throttled' : 'sent');
      world.gateway.status = () => 'unknown';
      const limits = { sliceSubscribersMax: size };
      expect(await world.process({ limits }).failuresOf(records)).toEqual(['message-0', 'message-1']);
      world.gateway.answer = () => 'sent';
      expect(await world.process({ limits }).failuresOf(records)).toEqual([]);
      expect(world.gateway.deleted).toEqual([]);
      expectAllToGet(world, all, ['a', 'b']);
    },
  );

  it('does not count as a failed attempt of its jobs, however often', async () => {
    const world = await World.create();
    const all = await world.subscribers(4);
    await world.publish(['a']);
    const records = world.queue.receive();
    world.gateway.answer = ({ connectionId }) => (connectionId === all[1] ? 'throttled' : 'sent');
    for (let round = 0; round < 2 * LIMITS.attemptsMax; round += 1) {
      expect(await world.process({ limits: LIMITS }).failuresOf(records)).toEqual(['message-0']);
    }
    expect(world.deadLetters.entries).toEqual([]);
    world.gateway.answer = () => 'sent';
    expect(await world.process({ limits: LIMITS }).failuresOf(records)).toEqual([]);
    expectAllToGet(world, all, ['a']);
  });

  it('was to be closed: the message is posted again, to it or by the worker that closes it', async () => {
    const world = await World.create();
    const all = await world.subscribers(4);
    const [, slow = ''] = all;
    await world.publish(['a']);
    const records = world.queue.receive();
    let isLate = false;
    world.gateway.answer = ({ connectionId }) => (connectionId === slow ? 'throttled' : 'sent');
    world.gateway.status = () => {
      isLate = true;
      return { lastActiveAtMs: world.time.nowMs };
    };
    const worker = world.process({ remainingMs: () => (isLate ? 400 : 30_000) });
    expect(await worker.failuresOf(records)).toEqual(['message-0']);
    expect(world.gateway.deleted).toEqual([]);
    world.gateway.answer = () => 'sent';
    expect(await world.process().failuresOf(records)).toEqual([]);
    expectAllToGet(world, all, ['a']);
  });
});

describe('a worker that dies after it has passed a slice with open posts', () => {
  it('is followed by one that reaches the connections that were still retried', async () => {
    const world = await World.create();
    const all = await world.subscribers(4);
    await world.publish(['a']);
    const records = world.queue.receive();
    refuseOnce(world, all[1] ?? '', 'throttled');
    const { worker, died } = dyingAtClaim(world, 2);
    void worker.work(records);
    await died;
    expect(await world.process({ limits: LIMITS }).failuresOf(records)).toEqual([]);
    expectAllToGet(world, all, ['a']);
  });

  it('is followed by one that reaches the connections that were to be closed', async () => {
    const world = await World.create();
    const all = await world.subscribers(4, { qos: 2 });
    await world.publish(['a'], { qos: 2 });
    const records = world.queue.receive();
    refuseOnce(world, all[1] ?? '', 'failed');
    const { worker, died } = dyingAtClaim(world, 3, LIMITS, { delete: never });
    void worker.work(records);
    await died;
    expect(await world.process({ limits: LIMITS }).failuresOf(records)).toEqual([]);
    const reached = all.filter(
      (id) => world.gateway.textsTo(id).includes('a') || world.gateway.deleted.includes(id),
    );
    expect(reached).toEqual(all);
  });

  it.each([
    ['while it is tried again', 'throttled', 1],
    ['while it is to be closed', 'failed', 2],
  ] as const)(
    'leaves the first job to be done, and the second, for a connection %s',
    async (_, outcome, qos) => {
      const world = await World.create();
      const all = await world.subscribers(4, { qos });
      const [, slow = ''] = all;
      const records = await twoRuns(world, { qos });
      refuseOnce(world, slow, outcome);
      // The first job's one slice, by slices of one, and then all of the second's.
      const { worker, died } = dyingAtClaim(world, 6, LIMITS, { delete: never });
      void worker.work(records);
      await died;
      expect(await world.process({ limits: LIMITS }).failuresOf(records)).toEqual([]);
      // Of QoS 2 messages that may be under way a repeat closes the connection.
      const others = all.filter((id) => !world.gateway.deleted.includes(id));
      expectAllToGet(world, others, ['a', 'b']);
    },
  );

  it('passes its claim on from the first open slice, and not from the beginning', async () => {
    const world = await World.create();
    const all = await world.subscribers(9);
    await world.publish(['a']);
    const records = world.queue.receive();
    refuseOnce(world, all[5] ?? '', 'throttled');
    const { worker, died } = dyingAtClaim(world, 6);
    void worker.work(records);
    await died;
    const successor = world.process({ limits: LIMITS });
    expect(await successor.failuresOf(records)).toEqual([]);
    expect(successor.counts).toMatchObject([{ repeatedSlices: 2, slices: 2 }]);
    expectAllToGet(world, all, ['a']);
  });
});

describe('a batch whose jobs have made different progress', () => {
  it('does not wait between them for a connection that is tried again', async () => {
    const world = await World.create();
    const all = await world.subscribers(4);
    const [, slow = '', , last = ''] = all;
    const records = await twoRuns(world);
    world.gateway.answer = ({ connectionId, by }) =>
      connectionId === slow && by !== 'door' ? 'throttled' : 'sent';
    world.gateway.status = () => ({ lastActiveAtMs: world.time.nowMs });
    expect(await world.process({ limits: LIMITS }).failuresOf(records)).toEqual([]);
    const order = world.gateway.attempts.filter(ofWorkers).map(({ connectionId }) => connectionId);
    expect(order.lastIndexOf(last)).toBeLessThan(order.lastIndexOf(slow));
    expect(world.gateway.deleted).toEqual([slow]);
    expectAllToGet(
      world,
      all.filter((id) => id !== slow),
      ['a', 'b'],
    );
  });
});

describe('a claim of more than a worker has time for', () => {
  it('is served by several, each of which goes on where the one before it stopped', async () => {
    const world = await World.create();
    const all = await world.subscribers(9);
    await world.publish(['a']);
    const records = world.queue.receive();
    const { worker, died } = dyingAtClaim(world, 1, {});
    void worker.work(records);
    await died;
    const posts = () => world.gateway.posts.filter(ofWorkers).length;
    for (const failures of [['message-0'], ['message-0'], []]) {
      const before = posts();
      const remainingMs = () => (posts() >= before + 4 ? 3_000 : 30_000);
      const limits = { sliceSubscribersMax: 2 };
      expect(await world.process({ limits, remainingMs }).failuresOf(records)).toEqual(failures);
    }
    expectAllToGet(world, all, ['a']);
  });

  it('is poison when its workers die in it, also behind a slice that stays open', async () => {
    const world = await World.create();
    const all = await world.subscribers(4);
    await world.publish(['a']);
    const records = world.queue.receive();
    world.gateway.answer = ({ connectionId }) => (connectionId === all[1] ? 'throttled' : 'sent');
    for (let round = 0; world.deadLetters.entries.length === 0; round += 1) {
      expect(round).toBeLessThan(3 * LIMITS.attemptsMax);
      const { worker, died } = dyingAtClaim(world, 2);
      await Promise.race([worker.work(records), died]);
    }
    expect(world.deadLetters.entries).toHaveLength(1);
  });
});

import type { QoS } from '@apus/mqtt';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import type { PageLimit, QueueLimits } from '../src/index.ts';
import { QueueModel } from './queue-model.ts';
import { QueueClient } from './queue-support.ts';
import { type MakeStores, NOW_MS } from './support.ts';

type Step =
  | { do: 'offer'; qos: QoS; length: number; isHeld: boolean; lifeMs: number | undefined }
  | { do: 'next'; limit: PageLimit }
  | { do: 'complete'; nth: number }
  | { do: 'release'; nth: number }
  | { do: 'lose' }
  | { do: 'resume'; receiveMaximum: number }
  | { do: 'sleep'; ms: number };

const nth = fc.nat({ max: 5 });
const pageLimit = fc.record({
  messages: fc.integer({ min: 1, max: 5 }),
  bytes: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.integer({ min: 0, max: 30 })),
});
const receiveMaximum = fc.integer({ min: 1, max: 4 });

function stepArbitrary(lifeMs: fc.Arbitrary<number | undefined>): fc.Arbitrary<Step> {
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('offer' as const),
        qos: fc.constantFrom<QoS>(1, 2),
        length: fc.integer({ min: 2, max: 6 }),
        isHeld: fc.boolean(),
        lifeMs,
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({ do: fc.constant('next' as const), limit: pageLimit }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('complete' as const), nth }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('release' as const), nth }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('resume' as const), receiveMaximum }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('sleep' as const), ms: fc.integer({ min: 1, max: 5 }) }),
    },
  );
}

const OFFERED = { do: 'offer', qos: 1, length: 2, isHeld: false, lifeMs: undefined } as const;

/** The page is full, and the store has looked at an expired message besides: it may not know that none is left. */
const PAST_AN_EXPIRED_MESSAGE: Step[] = [
  { ...OFFERED, isHeld: true, lifeMs: 1 },
  { do: 'sleep', ms: 1 },
  OFFERED,
  OFFERED,
  { do: 'next', limit: { messages: 2, bytes: 10 } },
  OFFERED,
];

/** Three expired messages are as many as the page has room for. */
const BEHIND_EXPIRED_MESSAGES: Step[] = [
  { ...OFFERED, isHeld: true, lifeMs: 1 },
  { ...OFFERED, lifeMs: 1 },
  { ...OFFERED, lifeMs: 1 },
  OFFERED,
  { do: 'sleep', ms: 1 },
  OFFERED,
  { do: 'next', limit: { messages: 3, bytes: 10 } },
  { do: 'next', limit: { messages: 3, bytes: 10 } },
];

/** Random calls, compared with a model that counts everything anew at each step. */
export function queueWalkContract(makeStores: MakeStores): void {
  const walk = async (
    limits: QueueLimits,
    lifeMs: fc.Arbitrary<number | undefined>,
    examples: [number, Step[]][] = [],
  ) => {
    const stores = await makeStores();
    await fc.assert(
      fc.asyncProperty(
        receiveMaximum,
        fc.array(stepArbitrary(lifeMs), { maxLength: 60, size: 'max' }),
        async (first, steps) => {
          const client = new QueueClient(stores);
          await client.open({ receiveMaximum: first });
          const walker = new Walker(client, new QueueModel(limits, first));
          for (const step of steps) await walker.take(step);
          await walker.end();
        },
      ),
      { numRuns: runs(100), examples },
    );
  };
  const never = fc.constant(undefined);

  describe('agrees with a naive model, in any order of calls', () => {
    it('with drop-oldest', async () => {
      await walk({ queueLengthMax: 3, queueBytesMax: 28, whenFull: 'drop-oldest' }, never);
    });

    it('with drop-newest', async () => {
      await walk({ queueLengthMax: 3, queueBytesMax: 28, whenFull: 'drop-newest' }, never);
    });

    it('where messages expire', async () => {
      // Roomy: when an expired message stops counting towards the limits is not promised.
      const limits: QueueLimits = { queueLengthMax: 100, queueBytesMax: 10_000, whenFull: 'drop-oldest' };
      const lifeMs = fc.option(fc.integer({ min: 1, max: 10 }), { nil: undefined });
      await walk(limits, lifeMs, [
        [3, PAST_AN_EXPIRED_MESSAGE],
        [2, BEHIND_EXPIRED_MESSAGES],
      ]);
    });
  });
}

class Walker {
  readonly #client: QueueClient;
  readonly #model: QueueModel;
  #nowMs = NOW_MS;
  #count = 0;

  constructor(client: QueueClient, model: QueueModel) {
    this.#client = client;
    this.#model = model;
  }

  async take(step: Step): Promise<void> {
    if (step.do === 'offer') await this.#offer(step);
    else if (step.do === 'next') await this.#next(step.limit);
    else if (step.do === 'complete') await this.#complete(step.nth);
    else if (step.do === 'release') await this.#release(step.nth);
    else if (step.do === 'lose') await this.#lose();
    else if (step.do === 'resume') await this.#resume(step.receiveMaximum);
    else this.#nowMs += step.ms;
    this.#model.checkLength(await this.#client.length(), this.#nowMs);
  }

  /** Everything that is left comes out in order. */
  async end(): Promise<void> {
    const left = await this.#client.unacknowledged();
    this.#model.checkLeft(left, this.#nowMs);
  }

  async #offer({ qos, length, isHeld, lifeMs }: Extract<Step, { do: 'offer' }>): Promise<void> {
    this.#count += 1;
    const name = `${this.#count}`.padEnd(length, '.');
    const expiresAtMs = lifeMs === undefined ? undefined : this.#nowMs + lifeMs;
    const { limits } = this.#model;
    const expiry = expiresAtMs === undefined ? {} : { expiresAtMs };
    const { packetId, dropped } = await this.#client.offer(name, { qos, isHeld, limits, ...expiry });
    this.#model.offer(
      { name, qos, bytes: 'a/b'.length + name.length, expiresAtMs },
      isHeld,
      packetId,
      dropped,
      this.#nowMs,
    );
  }

  async #next(limit: PageLimit): Promise<void> {
    const { queues } = this.#client.stores;
    this.#model.dequeue(
      await queues.next(await this.#client.session(), limit, this.#nowMs),
      limit,
      this.#nowMs,
    );
  }

  async #complete(nth: number): Promise<void> {
    const packetId = this.#model.nthSent(nth);
    if (packetId === undefined) return;
    expect(await this.#client.complete(packetId)).toBe(true);
    this.#model.complete(packetId);
    expect(await this.#client.complete(packetId)).toBe(false);
  }

  async #release(nth: number): Promise<void> {
    const packetId = this.#model.nthSent(nth);
    if (packetId === undefined) return;
    expect(await this.#client.release(packetId)).toBe(this.#model.release(packetId));
  }

  async #lose(): Promise<void> {
    await this.#client.lose();
    this.#model.lose();
  }

  async #resume(receiveMaximum: number): Promise<void> {
    await this.#client.resume(receiveMaximum);
    this.#model.resume(receiveMaximum);
  }
}

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Holdings } from '../../../packages/store-memory/src/holdings.ts';
import { COUNTS_AGAIN_MS, SHORT_TOLD_MS, TIGHT_MS } from '../src/limits.ts';
import { SharedCounts } from '../src/shared-counts.ts';
import type { HeldCounts, HeldPart } from '../src/store/index.ts';
import { HandClock } from './support/hand-clock.ts';

const SILENT = { info() {}, warn() {}, error() {}, debug() {}, writesDebug: false };
const ADA = { tenant: 't', name: 'ada' };

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function turnsOf(count: number): Promise<void> {
  for (let passed = 0; passed < count; passed += 1) await turn();
}

/** An engine that has room for all, and answers after some turns. */
function roomy(turns: number): HeldCounts {
  const take = async (parts: readonly HeldPart[]) => {
    await turnsOf(turns);
    return parts.map(({ want }) => want);
  };
  return { take } as never;
}

test('clients that come and go are never told that there is no room where there is', async () => {
  const random = fc.record({
    max: fc.constantFrom(100, 1_000_000),
    turns: fc.integer({ min: 1, max: 4 }),
    clients: fc.array(fc.array(fc.tuple(fc.nat(4), fc.nat(4), fc.nat(4)), { size: 'max', maxLength: 30 }), {
      maxLength: 5,
    }),
  });
  await fc.assert(
    fc.asyncProperty(random, async ({ max, turns, clients }) => {
      const holdings = new Holdings();
      let refused = 0;
      /** A client that finds no room asks once more after a while. */
      const clock = {
        now: () => 0,
        after(_ms: number, call: () => void) {
          refused += 1;
          setImmediate(call);
          return () => {};
        },
      };
      const counts = new SharedCounts(roomy(turns), holdings, clock, SILENT);
      const asks = (['connections', 'sessions'] as const).map((kind) => ({
        ...{ key: holdings.of(ADA, 'c').key, kind },
        ...{ by: 1, max },
      }));
      const client = async (visits: readonly (readonly [number, number, number])[]) => {
        for (const [before, opening, staying] of visits) {
          await turnsOf(before);
          const reserved = await counts.reserve(asks);
          await turnsOf(opening);
          if ('release' in reserved) reserved.release();
          const holding = holdings.of(ADA, 'c');
          holding.change('sessions', 1);
          holding.change('connections', 1);
          await turnsOf(staying);
          holding.change('connections', -1);
          holding.change('sessions', -1);
        }
      };
      await Promise.all(clients.map(client));
      expect(refused).toBe(0);
    }),
  );
});

/** Processes that count against one quota, over an engine that answers in the next turn. */
class Quota {
  readonly clock = new HandClock();
  readonly asked: string[] = [];
  readonly parts = new Map<string, number>();
  readonly members: Counting[] = [];
  readonly max: number;

  constructor(max: number, processes: number) {
    this.max = max;
    for (let index = 0; index < processes; index += 1) this.members.push(new Counting(this, `p${index}`));
  }

  async take(name: string, [{ least, want, max }]: readonly [HeldPart]): Promise<readonly number[]> {
    await turn();
    let others = 0;
    for (const [other, part] of this.parts) if (other !== name) others += part;
    const granted = max === 0 ? want : Math.max(least, Math.min(want, max - others));
    this.parts.set(name, granted);
    return [granted];
  }
}

class Counting {
  readonly #holdings = new Holdings();
  readonly #asks: Parameters<SharedCounts['reserve']>[0];
  readonly counts: SharedCounts;

  constructor(quota: Quota, name: string) {
    this.#asks = [{ key: this.#holdings.of(ADA, 'c').key, kind: 'connections', by: 1, max: quota.max }];
    const engine = { take: (parts: readonly [HeldPart]) => quota.take(name, parts) };
    this.counts = new SharedCounts(engine as never, this.#holdings, quota.clock, SILENT, (count) => {
      quota.asked.push(name);
      for (const { counts } of quota.members) if (counts !== this.counts) counts.giveSpare(count);
    });
  }

  /** True: the client is let in. */
  async connect(): Promise<boolean> {
    const reserved = await this.counts.reserve(this.#asks);
    if (!('release' in reserved)) return false;
    reserved.release();
    this.#change(1);
    return true;
  }

  async leave(count: number): Promise<void> {
    for (let left = 0; left < count; left += 1) this.#change(-1);
    await turnsOf(3);
  }

  #change(by: 1 | -1): void {
    const holding = this.#holdings.of(ADA, 'c');
    holding.change('sessions', by);
    holding.change('connections', by);
  }
}

test('a client is turned away only where all clients hold the whole quota, however much each process has kept of it [SEC-QUOTA-5]', async () => {
  const quota = new Quota(4096, 4);
  const [one, two, three, four] = quota.members as [Counting, Counting, Counting, Counting];
  for (const member of [two, three, four])
    for (let count = 0; count < 100; count += 1) await member.connect();
  // Each keeps as much as it may.
  for (const member of [two, three, four]) await member.leave(4);
  let inside = 3 * 96;
  for (; inside < 4096; inside += 1) {
    const connecting = one.connect();
    await turnsOf(4);
    quota.clock.move(COUNTS_AGAIN_MS);
    expect(await connecting, `client ${inside}`).toBe(true);
  }
  const refused = one.connect();
  await turnsOf(4);
  quota.clock.move(COUNTS_AGAIN_MS);
  expect(await refused).toBe(false);
  // One that leaves at a process that kept nothing makes room at once.
  await two.leave(1);
  expect(await one.connect()).toBe(true);
});

test('others are asked for what they have kept once in a while, and keep some again afterwards', async () => {
  const quota = new Quota(2048, 2);
  const [one, two] = quota.members as [Counting, Counting];
  for (let inside = 0; inside < 2000; inside += 1) await two.connect();
  const attempts = Array.from({ length: 60 }, () => one.connect());
  await turnsOf(6);
  quota.clock.move(COUNTS_AGAIN_MS);
  expect((await Promise.all(attempts)).filter((isIn) => isIn).length).toBe(48);
  expect(quota.asked).toEqual(['p0']);
  quota.clock.move(SHORT_TOLD_MS);
  const late = one.connect();
  await turnsOf(6);
  quota.clock.move(COUNTS_AGAIN_MS);
  expect(await late).toBe(false);
  expect(quota.asked).toEqual(['p0', 'p0']);
  quota.clock.move(TIGHT_MS);
  await two.leave(100);
  await two.connect();
  for (let inside = 0; inside < 3; inside += 1) await two.connect();
  expect(quota.parts.get('p1')).toBeGreaterThan(1904);
});

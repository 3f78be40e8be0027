import type { HeldCounts, HeldPart } from '@apus/store-valkey';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Holdings } from '../../store-memory/src/holdings.ts';
import { SharedCounts } from '../src/shared-counts.ts';

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

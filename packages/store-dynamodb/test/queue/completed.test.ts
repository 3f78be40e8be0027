import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gate } from '../../../../test/support/gate.ts';
import { runs } from '../../../../test/support/runs.ts';
import type { DynamoStores } from '../../src/index.ts';
import { type CompletedLimits, forgetting, isPlaced, mayBeForgotten } from '../../src/queue/completed.ts';
import { NEW_RECORD } from '../../src/queue/decide.ts';
import type { QueueRecord } from '../../src/queue/types.ts';
import { deliveryTo, detach, messageOf, open, PAGE, ROOMY, unique } from '../support/client.ts';
import { FakeClock, NOW_MS, withService } from '../support/stores.ts';

describe('a record that forgets', () => {
  const limits: CompletedLimits = { bytesMax: 6, bytesKept: 2 };

  /** Pages and late names as `Forgotten` keeps and finds them. */
  class Items {
    readonly #pages = new Map<string, readonly string[]>();
    readonly #late = new Set<string>();

    write({ page, late }: { readonly page: readonly string[]; readonly late: readonly string[] }): void {
      const last = page.at(-1);
      if (last !== undefined) this.#pages.set(last, page);
      for (const name of late) this.#late.add(name);
    }

    has(name: string): boolean {
      const first = [...this.#pages.keys()].toSorted().find((last) => last >= name);
      return this.#late.has(name) || this.#pages.get(first ?? '')?.includes(name) === true;
    }
  }

  it('knows each name that was ever completed, in whatever order they come, and no other', () => {
    const names = fc.uniqueArray(fc.integer({ min: 100, max: 999 }).map(String), { maxLength: 120 });
    fc.assert(
      fc.property(names, (all) => {
        const items = new Items();
        let record: QueueRecord = NEW_RECORD;
        const isKnown = (name: string) =>
          isPlaced(record, name, mayBeForgotten(record, name) && items.has(name));
        for (const [place, name] of all.entries()) {
          record = { ...record, completed: [...record.completed, name] };
          const forgot = forgetting(record, limits);
          if (forgot !== undefined) items.write(forgot);
          record = forgot?.record ?? record;
          expect(record.completed.length).toBeLessThanOrEqual(3);
          expect(all.map(isKnown)).toEqual(all.map((_name, each) => each <= place));
        }
      }),
      { numRuns: runs(300) },
    );
  });
});

/** A message of QoS 2 that is offered, sent, and answered to the end. */
async function exchange(stores: DynamoStores, session: Parameters<typeof deliveryTo>[0], number: number) {
  const packetId = await offer(stores, session, number);
  expect(packetId).toBeGreaterThan(0);
  expect(await stores.queues.release(session, packetId)).toBe('done');
  expect(await stores.queues.complete(session, packetId, 'pubcomp')).toBe('done');
}

async function offer(stores: DynamoStores, session: Parameters<typeof deliveryTo>[0], number: number) {
  const delivery = deliveryTo({ ...session }, { qos: 2, copy: '' });
  await stores.queues.offer(messageOf(number, { qos: 2 }), [delivery], ROOMY);
  return delivery.packetId;
}

const MESSAGES = 90;

await withService((service) => {
  describe('copies at QoS 2 whose exchange is complete', () => {
    it('are known as long as a fan-out may be repeated, however many came since, for less than a write unit each', async () => {
      const stores = service.make();
      const { session } = await open(stores, unique('tenant'), 'c');
      const before = stores.meter.units;
      for (let number = 1; number <= MESSAGES; number += 1) await exchange(stores, session, number);
      // Three for the place, PUBREC and PUBCOMP.
      expect(stores.meter.since(before).writes / MESSAGES).toBeLessThan(3.3);
      for (let number = 1; number <= MESSAGES; number += 1)
        expect(await offer(stores, session, number), `message ${number}`).toBe(0);
      expect(await offer(stores, session, MESSAGES + 1)).toBeGreaterThan(0);
    });

    it('are known where the messages came out of their order', async () => {
      const stores = service.make();
      const { session } = await open(stores, unique('tenant'), 'c');
      const numbers = Array.from({ length: MESSAGES }, (_, place) => ((place * 37) % MESSAGES) + 1);
      for (const number of numbers) await exchange(stores, session, number);
      for (const number of numbers) expect(await offer(stores, session, number), `message ${number}`).toBe(0);
    });

    it.each([0, MESSAGES])(
      'are dropped where a slow fan-out appends one, %i messages later',
      async (others) => {
        const stores = service.make();
        const { session } = await open(stores, unique('tenant'), 'c');
        const { session: away = session } = (await detach(stores, session, 'c:1')) ?? {};
        const [appends, goOn] = [gate(), gate()];
        const slow = service.make({
          hooks: {
            before: async (operation) => {
              if (operation !== 'PutItem') return;
              appends.open();
              await goOn.opened;
            },
          },
        });
        // It has read that the client is away.
        const appended = offer(slow, away, 1);
        await appends.opened;
        const { session: back } = await open(stores, session.tenant, 'c', { connectionId: 'c:2' });
        expect(await stores.queues.next(back, PAGE, NOW_MS)).toEqual([]);
        for (let number = 1; number <= 1 + others; number += 1) await exchange(stores, back, number);
        goOn.open();
        expect(await appended).toBe(0);
        expect(await stores.queues.next(back, PAGE, NOW_MS)).toEqual([]);
        expect(await stores.queues.length(back)).toBe(0);
        expect(await stores.queues.unacknowledged(back)).toEqual([]);
        expect(await offer(stores, back, 2 + others)).toBeGreaterThan(0);
      },
    );

    it('are forgotten when no fan-out is repeated any more, with TTL or without', async () => {
      const fakeClock = new FakeClock();
      const stores = service.make({ fakeClock, repeatSecondsMax: 100 });
      const { session } = await open(stores, unique('tenant'), 'c');
      for (let number = 1; number <= MESSAGES; number += 1) await exchange(stores, session, number);
      fakeClock.nowMs += 99_000;
      expect(await offer(stores, session, 1)).toBe(0);
      fakeClock.nowMs += 1_000;
      expect(await offer(stores, session, 1)).toBeGreaterThan(0);
    });
  });
});

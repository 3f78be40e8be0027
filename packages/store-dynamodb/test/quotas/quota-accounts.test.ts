import { describe, expect, it } from 'vitest';
import { unique } from '../support/client.ts';
import { FakeClock, withService } from '../support/stores.ts';

const MINUTE_MS = 60_000;

await withService((service) => {
  describe("a publisher's account", () => {
    const setup = () => {
      const fakeClock = new FakeClock();
      const account = { tenant: unique('tenant'), kind: 'identity', name: 'somebody', of: 'frames' } as const;
      return { fakeClock, account, stores: service.make({ fakeClock }), other: service.make({ fakeClock }) };
    };

    it('adds up what several processes charge, and works it off as time passes', async () => {
      const { fakeClock, account, stores, other } = setup();
      const startMs = fakeClock.nowMs;
      expect(await stores.quotaAccounts.charge(account, 20_000, MINUTE_MS, false)).toEqual({
        isTaken: true,
        debtMs: 20_000,
      });
      // It does not know of the debt yet.
      expect(await other.quotaAccounts.charge(account, 30_000, MINUTE_MS, false)).toEqual({
        isTaken: true,
        debtMs: 50_000,
      });
      fakeClock.nowMs += 40_000;
      expect(await stores.quotaAccounts.charge(account, 5_000, MINUTE_MS, true)).toEqual({
        isTaken: true,
        debtMs: 15_000,
      });
      fakeClock.nowMs = startMs + 55_000;
      // It remembers a debt that is worked off.
      expect(await other.quotaAccounts.charge(account, 1_000, MINUTE_MS, true)).toEqual({
        isTaken: true,
        debtMs: 1_000,
      });
    });

    it('may exceed its limit by one charge, and then refuses further ones until the debt is below the limit', async () => {
      const { fakeClock, account, stores, other } = setup();
      const startMs = fakeClock.nowMs;
      await stores.quotaAccounts.charge(account, 59_999, MINUTE_MS, false);
      await stores.quotaAccounts.charge(account, 100_000, MINUTE_MS, true);
      expect(await other.quotaAccounts.charge(account, 1, MINUTE_MS, false)).toEqual({
        isTaken: false,
        debtMs: 159_999,
      });
      fakeClock.nowMs = startMs + 99_999;
      expect(await other.quotaAccounts.charge(account, 1, MINUTE_MS, true)).toEqual({
        isTaken: false,
        debtMs: 60_000,
      });
      fakeClock.nowMs += 1;
      expect(await other.quotaAccounts.charge(account, 1, MINUTE_MS, true)).toMatchObject({
        isTaken: true,
      });
    });

    it('counts all charges of processes that begin at the same time', async () => {
      const { fakeClock, account } = setup();
      const charges = Array.from({ length: 10 }, () =>
        service.make({ fakeClock }).quotaAccounts.charge(account, 1_000, MINUTE_MS, false),
      );
      const ends = (await Promise.all(charges)).map(({ debtMs }) => debtMs);
      expect(ends.sort((a, b) => a - b)).toEqual(
        Array.from({ length: 10 }, (_, index) => (index + 1) * 1_000),
      );
    });

    it('forgets a debt that a process with a clock ahead has begun, and adds to one of a clock that is a little off', async () => {
      const { fakeClock, account, stores, other } = setup();
      await stores.quotaAccounts.charge(account, 20_000, MINUTE_MS, false);
      fakeClock.nowMs -= 2_000;
      expect(await other.quotaAccounts.charge(account, 1_000, MINUTE_MS, false)).toEqual({
        isTaken: true,
        debtMs: 23_000,
      });
      for (const hasDebt of [true, false]) {
        fakeClock.nowMs -= 3_600_000;
        expect(await other.quotaAccounts.charge(account, 1_000, MINUTE_MS, hasDebt)).toEqual({
          isTaken: true,
          debtMs: 1_000,
        });
      }
    });

    it('is one write for a process that knows the account, and two for others', async () => {
      const { account, stores, other } = setup();
      await stores.quotaAccounts.charge(account, 1_000, MINUTE_MS, false);
      await stores.quotaAccounts.charge(account, 1_000, MINUTE_MS, true);
      await other.quotaAccounts.charge(account, 1_000, MINUTE_MS, false);
      expect(stores.meter.units).toMatchObject({ reads: 0, writes: 2 });
      expect(other.meter.units).toMatchObject({ reads: 0, writes: 2 });
    });

    it('is not that of a client with the same name', async () => {
      const { account, stores } = setup();
      await stores.quotaAccounts.charge(account, 200_000, MINUTE_MS, false);
      const client = { ...account, kind: 'client' } as const;
      const charged = await stores.quotaAccounts.charge(client, 1, MINUTE_MS, false);
      expect(charged.isTaken).toBe(true);
    });
  });
});

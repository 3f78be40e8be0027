import { NO_QUOTAS, withQuotas } from '@apus/broker';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RateAccount } from '../src/quotas/rate-account.ts';
import { BURST_MS, RateQuota } from '../src/quotas/rate-quota.ts';
import { RATE_SLICE_MS, RateBank, type SharedRates, type Spending } from '../src/quotas/shared-rates.ts';
import { PUBLISH } from './support/publish-packet.ts';

const PER_SECOND = 50;
const PACKET_MS = 1_000 / PER_SECOND;
const QUOTAS = withQuotas(NO_QUOTAS, { identity: { publishesPerSecondMax: PER_SECOND } });

/** The accounts of all, whose answers come when they are let go. */
class Held implements SharedRates {
  readonly #accounts = new Map<string, RateAccount>();
  readonly #answers: (() => void)[] = [];
  readonly #now: () => number;
  fails = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  spend(spendings: readonly Spending[]): Promise<readonly number[]> {
    if (this.fails) return Promise.reject(new Error('away'));
    const nowMs = this.#now();
    const debts = spendings.map(({ key, costMs }) => {
      const account =
        this.#accounts.get(key) ?? new RateAccount({ ...NO_QUOTAS.broker, packetsPerSecondMax: 1_000 });
      this.#accounts.set(key, account);
      account.chargePackets(costMs, nowMs);
      return Math.max(0, account.debtMs(nowMs));
    });
    return new Promise((resolve) => this.#answers.push(() => resolve(debts)));
  }

  async letGo(): Promise<void> {
    for (const answer of this.#answers.splice(0)) answer();
    await turn();
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

function started(processes: number) {
  const time = { nowMs: 0 };
  const now = () => time.nowMs;
  const shared = new Held(now);
  let answered = 0;
  const charges = Array.from({ length: processes }, () => {
    const bank = new RateBank({ shared, now, answered: () => (answered += 1) });
    return new RateQuota(QUOTAS, { now }, bank).chargesOf({ tenant: 't', name: 'ada' }, 'c');
  });
  /** Sends where the client may; says whether it was. */
  const send = (process: number): boolean => {
    const own = charges[process];
    if (own === undefined || own.waitMs(time.nowMs) > BURST_MS) return false;
    own.packet(PUBLISH, time.nowMs);
    return true;
  };
  return { time, shared, charges, send, answered: () => answered };
}

test('a client of several processes sends no more than its rate, a burst, and a slice at each [SEC-QUOTA-1]', async () => {
  const step = fc.record({
    process: fc.nat(2),
    packets: fc.nat(200),
    passMs: fc.nat(500),
    isAnswered: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { time, shared, send } = started(3);
      let sent = 0;
      for (const { process, packets, passMs, isAnswered } of steps) {
        for (let count = 0; count < packets && send(process); count += 1) sent += 1;
        await turn();
        if (isAnswered) await shared.letGo();
        const mayMs = time.nowMs + BURST_MS + 3 * (RATE_SLICE_MS + PACKET_MS) + PACKET_MS;
        expect(sent * PACKET_MS).toBeLessThanOrEqual(mayMs + 1);
        time.nowMs += passMs;
      }
    }),
  );
});

test('waits for no answer before a slice is spent, and for one beyond it without being in debt', async () => {
  const { shared, charges, send, answered } = started(1);
  const slice = RATE_SLICE_MS / PACKET_MS;
  for (let count = 0; count <= slice; count += 1) expect(send(0)).toBe(true);
  expect(send(0)).toBe(false);
  expect(charges[0]?.isOwnDebt(0)).toBe(false);
  await turn();
  await shared.letGo();
  expect(answered()).toBe(1);
  expect(send(0)).toBe(true);
});

test('a debt that was made at another process holds here when it is known', async () => {
  const { time, shared, charges, send } = started(2);
  for (let round = 0; round < 20; round += 1) {
    while (send(0));
    await turn();
    await shared.letGo();
  }
  while (send(1));
  await turn();
  await shared.letGo();
  expect(charges[1]?.isOwnDebt(0)).toBe(true);
  time.nowMs = BURST_MS;
  expect(send(1)).toBe(true);
});

test('goes on by the rates of this process alone where the others cannot be asked', async () => {
  const { time, shared, send } = started(1);
  shared.fails = true;
  let sent = 0;
  for (let round = 0; round < 100; round += 1) {
    while (send(0)) sent += 1;
    await turn();
    await turn();
  }
  expect(sent).toBe(PER_SECOND + 1);
  time.nowMs = 1_000;
  expect(send(0)).toBe(true);
});

import { NODE_QUOTAS, withQuotas } from '@apus/broker';
import { expect, test } from 'vitest';
import { GatewayFrameQuota } from '../src/quotas/gateway-frame-quota.ts';
import { RateQuota } from '../src/quotas/rate-quota.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';

const frameOf = (publishes: number) => ({ frames: 1, packets: publishes, publishes, bytes: 100 });

function quotaOfTenASecond() {
  const clock = new FakeScheduler();
  const rates = new RateQuota(withQuotas(NODE_QUOTAS, { identity: { publishesPerSecondMax: 10 } }), clock);
  const sender = { tenant: 't', name: 'n' };
  const quota = new GatewayFrameQuota(rates, clock);
  return { clock, take: (publishes: number) => quota.take(sender, 'c', frameOf(publishes)) };
}

test('a frame within the burst does not wait, whatever rounding adds to its debt [SEC-QUOTA-1]', () => {
  const { clock, take } = quotaOfTenASecond();
  expect(take(9)).toBeUndefined();
  clock.advance(1_000);
  expect(take(10)).toBeUndefined();
});

test('a frame beyond the burst waits until its debt is a burst again [SEC-QUOTA-1]', async () => {
  const { clock, take } = quotaOfTenASecond();
  expect(take(10)).toBeUndefined();
  let isDone = false;
  const taken = Promise.resolve(take(5)).then(() => {
    isDone = true;
  });
  clock.advance(499);
  await Promise.resolve();
  expect(isDone).toBe(false);
  clock.advance(2);
  await taken;
});

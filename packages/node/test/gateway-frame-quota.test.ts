import { NODE_QUOTAS, withQuotas } from '@apus/broker';
import { RateQuota } from '@apus/door';
import { expect, test } from 'vitest';
import { GatewayFrameQuota } from '../src/quotas/gateway-frame-quota.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';

const frameOf = (publishes: number) => ({ frames: 1, packets: publishes, publishes, bytes: 100 });

function quotaOfTenASecond(of: 'publishesPerSecondMax' | 'framesPerSecondMax' = 'publishesPerSecondMax') {
  const clock = new FakeScheduler();
  const identity = { framesPerSecondMax: 0, [of]: 10 };
  const rates = new RateQuota(withQuotas(NODE_QUOTAS, { identity }), clock);
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

test('frames have a rate of their own, and a client that does not wait for replies is ended [SEC-QUOTA-1]', async () => {
  const { clock, take } = quotaOfTenASecond('framesPerSecondMax');
  for (let frame = 0; frame < 10; frame += 1) expect(take(0)).toBeUndefined();
  const waits = take(0);
  expect(waits).toBeInstanceOf(Promise);
  clock.advance(101);
  expect(await waits).toBeUndefined();
  // The client does not wait for replies, and its next frames would have to wait for more than two seconds.
  const all = Array.from({ length: 30 }, () => take(0));
  expect(all.at(-1)).toBe('identity');
});

test('frames of one identity that wait are few, so that executions are left for others [SEC-QUOTA-1]', async () => {
  const clock = new FakeScheduler();
  const identity = { framesPerSecondMax: 1_000 };
  const quota = new GatewayFrameQuota(new RateQuota(withQuotas(NODE_QUOTAS, { identity }), clock), clock);
  const take = (name: string) => quota.take({ tenant: 't', name }, 'c', frameOf(1));
  const flood = Array.from({ length: 1_500 }, () => take('mallory'));
  const waiting = flood.filter((each) => each instanceof Promise);
  expect(waiting).toHaveLength(200);
  expect(flood.at(-1)).toBe('identity');
  expect(take('ada')).toBeUndefined();
  clock.advance(2_000);
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => undefined));
  expect(take('mallory')).toBeUndefined();
});

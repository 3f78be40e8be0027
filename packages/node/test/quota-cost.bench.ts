import { NODE_QUOTAS } from '@apus/broker';
import { RateQuota } from '@apus/door';
import { bench, describe } from 'vitest';
import { PUBLISH } from '../../door/test/support/publish-packet.ts';
import { LinkRate } from '../src/quotas/link-rate.ts';
import { Throttle } from '../src/quotas/throttle.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';

const PUBLISHES = 1_000;
/** At which a client stays within its quota, and never waits. */
const SPACING_MS = 1;
const PACKET_BYTES = 100;

// npx vitest bench --run --project node packages/node/test/quota-cost.bench.ts
describe('the cost of quotas for a PUBLISH to one recipient, a thousand times', () => {
  const scheduler = new FakeScheduler();
  const quota = new RateQuota(NODE_QUOTAS, scheduler);
  const rate = new LinkRate(
    { rateQuota: quota, throttle: new Throttle(scheduler), scheduler },
    { resumed: () => {} },
  );
  const client = { identity: { tenant: 't', name: 'ada' }, clientId: 'ada' };
  rate.identify(client.identity, client.clientId);
  let nowMs = scheduler.now();

  bench('bytes, packet and delivery are charged', () => {
    for (let count = 0; count < PUBLISHES; count += 1) {
      nowMs += SPACING_MS;
      rate.received(PACKET_BYTES);
      rate.packet(PUBLISH, nowMs);
      quota.take(client, 1, []);
    }
  });
});

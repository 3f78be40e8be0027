import { type Identity, NODE_QUOTAS, withAddress, withQuotas } from '@apus/broker';
import { expect, test } from 'vitest';
import { BURST_MS, RateQuota } from '../src/quotas/rate-quota.ts';
import { PUBLISH } from './support/publish-packet.ts';

const identity = (tenant: string, name: string): Identity => ({ tenant, name });

test('the quota of all together is charged by every tenant', () => {
  const quota = new RateQuota(withQuotas(NODE_QUOTAS, { broker: { publishesPerSecondMax: 10 } }), {
    now: () => 0,
  });
  for (let count = 0; count < 11; count += 1)
    quota.chargesOf(identity(`tenant ${count}`, 'n'), '').packet(PUBLISH, 0);
  const stranger = quota.chargesOf(identity('another', 'n'), '');
  expect(stranger.debtMs(0)).toBeGreaterThan(BURST_MS);
  expect(stranger.isOwnDebt(0)).toBe(false);
  expect(stranger.debtMs(1_000)).toBeLessThanOrEqual(BURST_MS);
});

test.each([
  ['of one address share a quota, under different client identifiers', '192.0.2.7:50', '192.0.2.7:51', true],
  ['of two addresses have one each', '192.0.2.7:50', '192.0.2.8:50', false],
  ['of one network of IPv6 share one', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2:ffff::9', true],
  ['of one network of IPv6 share one where its address is short', '2001:db8::1', '2001:db8:0:0:5::', true],
  ['of two networks of IPv6 have one each', '2001:db8:1:2::1', '2001:db8:1:3::1', false],
  ['of an IPv4 address share one in each of its forms', '192.0.2.7', '::ffff:192.0.2.7:80', true],
  ['of this machine have one each, as a proxy may be before them', '127.0.0.1:50', '127.0.0.1:51', false],
  ['of this machine over IPv6 as well', '::1:50', '::1:51', false],
])('anonymous clients %s', (_, one, other, isShared) => {
  const quota = new RateQuota(NODE_QUOTAS, { now: () => 0 });
  const anonymous = { tenant: 't', name: '' };
  const charges = quota.chargesOf(withAddress(anonymous, { address: one }), 'one');
  const others = quota.chargesOf(withAddress(anonymous, { address: other }), 'other');
  charges.packet(PUBLISH, 0);
  expect(others.isOwnDebt(0) || others.debtMs(0) > 0).toBe(isShared);
});

test('accounts without a debt are forgotten when there are too many, and those with one are kept', () => {
  const time = { nowMs: 0 };
  const quota = new RateQuota(NODE_QUOTAS, { now: () => time.nowMs });
  const bytes = 10 * NODE_QUOTAS.identity.bytesPerSecondMax;
  quota.chargesOf(identity('t', 'runaway'), '').bytes(bytes, 0);
  time.nowMs = 5_000;
  for (let count = 0; count < 30_000; count += 1) quota.chargesOf(identity('t', `n${count}`), '');
  expect(quota.chargesOf(identity('t', 'runaway'), '').debtMs(5_000)).toBeGreaterThan(4_000);
});

test('a delayed message pays by the present quotas, and does not restore those of its publishing [SEC-TENANT-8]', () => {
  const time = { nowMs: 0 };
  const quota = new RateQuota(NODE_QUOTAS, { now: () => time.nowMs });
  const planned = { ...identity('t', 'ada'), plan: { deliveriesPerMinuteMax: 60, bytesPerSecondMax: 10 } };
  const charges = quota.chargesOf(planned, '');
  for (const plan of [undefined, { deliveriesPerMinuteMax: 60_000, bytesPerSecondMax: 0 }])
    quota.take({ identity: { ...identity('t', 'ada'), ...(plan && { plan }) }, clientId: '' }, 1, []);
  expect(charges.debtMs(0)).toBe(2_000);
  charges.bytes(10, 0);
  expect(charges.debtMs(0)).toBe(3_000);
});

test('identities of one tenant, however many are in debt, wipe out no debt of a tenant [SEC-TENANT-8]', () => {
  const tenant = { bytesPerSecondMax: 1_000 };
  const quota = new RateQuota(withQuotas(NODE_QUOTAS, { tenant }), { now: () => 0 });
  quota.chargesOf(identity('t', 'runaway'), '').bytes(10_000, 0);
  for (let count = 0; count < 30_000; count += 1)
    quota.chargesOf(identity('t', `n${count}`), '').packet(PUBLISH, 0);
  expect(quota.chargesOf(identity('t', 'again'), '').debtMs(0)).toBe(10_000);
});

test('a tenant that has caused deliveries in the last minute is not forgotten, however many come', () => {
  const time = { nowMs: 0 };
  const tenant = { deliveriesPerMinuteMax: 60_000 };
  const quota = new RateQuota(withQuotas(NODE_QUOTAS, { tenant }), { now: () => time.nowMs });
  quota.take({ identity: identity('t', 'ann'), clientId: '' }, 5, []);
  time.nowMs = 10_000;
  for (let count = 0; count < 30_000; count += 1) quota.chargesOf(identity(`t${count}`, 'ann'), '');
  expect(quota.deliveriesOfLastMinute('t')).toBe(5);
  expect(quota.deliveriesOfLastMinute('t7')).toBe(0);
});

test('the quotas of the credential that was shown last count, and a debt stays', () => {
  const quota = new RateQuota(NODE_QUOTAS, { now: () => 0 });
  const shownFirst = { ...identity('t', 'ada'), quotas: { publishesPerSecondMax: 1 } };
  quota.chargesOf(shownFirst, '').packet(PUBLISH, 0);
  const charges = quota.chargesOf({ ...identity('t', 'ada'), quotas: { publishesPerSecondMax: 10 } }, '');
  expect(charges.debtMs(0)).toBe(1_000);
  charges.packet(PUBLISH, 0);
  expect(charges.debtMs(0)).toBe(1_100);
});

test.each([1, 2, 3])(
  'a message pays for each delivery, at %d other processes with two subscribers',
  (processes) => {
    const quotas = withQuotas(NODE_QUOTAS, { tenant: { deliveriesPerMinuteMax: 60 } });
    const quota = new RateQuota(quotas, { now: () => 0 });
    const publisher = { identity: identity('t', 'ada'), clientId: '' };
    const charges = quota.chargesOf(publisher.identity, '');
    const payer = quota.payerOf(publisher);
    if (payer === undefined) throw new Error('a quota limits its deliveries');
    quota.take(publisher, 1, [{ tenant: 't', topicFilter: '#', shards: 1, isBehind: false }]);
    for (let count = 0; count < processes; count += 1)
      quota.charge('t', { ...payer, paid: payer.paid / processes }, 2);
    expect(charges.debtMs(0)).toBeCloseTo(1_000 * (1 + 2 * processes));
  },
);

import { type Identity, quotaHolderOf, type SessionRef } from '@apus/broker';
import { attachmentOf, detachOf, NOW_MS, openOf, subscriptionTo } from '@apus/broker/samples';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMemoryStores, type MemoryStores } from '../src/index.ts';

const TENANTS = ['one', 'two'];
const CLIENT_IDS = ['a', 'b', 'c'];
const IDENTITIES: readonly Omit<Identity, 'tenant'>[] = [
  { name: 'ada' },
  { name: 'bob' },
  { name: '', address: '192.0.2.1' },
  { name: '', address: '192.0.2.2' },
  { name: '', address: '127.0.0.1' },
];

const step = fc.record({
  action: fc.constantFrom('open', 'open', 'detach', 'remove', 'clear', 'subscribe', 'unsubscribe'),
  tenant: fc.constantFrom(...TENANTS),
  clientId: fc.constantFrom(...CLIENT_IDS),
  identity: fc.constantFrom(...IDENTITIES),
  cleanStart: fc.boolean(),
  expirySeconds: fc.constantFrom(0, 60),
  // One counts as two.
  topicFilter: fc.constantFrom('t', 'u/+', 'x/'.repeat(16)),
});

test('the counts are what sessions hold, after any change to them [SEC-QUOTA-5]', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const stores = createMemoryStores();
      const refs: SessionRef[] = [];
      let connections = 0;
      for (const { action, tenant, clientId, identity, cleanStart, expirySeconds, topicFilter } of steps) {
        const current = stores.sessions.get(tenant, clientId)?.session;
        connections += 1;
        if (action === 'open') {
          const attachment = attachmentOf(`${clientId}:${connections}`);
          const owner = { ...identity, tenant };
          const request = { tenant, cleanStart, expirySeconds, identity: owner, attachment };
          const opened = stores.sessions.open(openOf(clientId, request));
          if (opened !== 'owned-by-another' && !opened.present) refs.push(opened.session);
        } else if (current !== undefined) {
          if (action === 'detach') stores.sessions.detach(detachOf(current, { nowMs: NOW_MS }));
          if (action === 'remove') stores.sessions.remove(current);
          if (action === 'subscribe') stores.subscriptions.put(current, [subscriptionTo(topicFilter)], 10);
          if (action === 'unsubscribe') stores.subscriptions.remove(current, [{ topicFilter }]);
        }
        // Also of incarnations that are over, which is when it is done.
        if (action === 'clear') for (const ref of refs) if (ref !== current) stores.subscriptions.clear(ref);
      }
      expectCounted(stores, refs);
      for (const { session } of [...stores.sessions.all()]) {
        stores.sessions.detach(detachOf(session));
        stores.sessions.remove(session);
      }
      for (const ref of refs) stores.subscriptions.clear(ref);
      for (const tenant of TENANTS) expect(stores.sessions.holdings.findTenant(tenant)).toBeUndefined();
    }),
  );
});

/** Counts all of it again. */
function expectCounted({ sessions, subscriptions }: MemoryStores, refs: readonly SessionRef[]): void {
  const records = [...sessions.all()];
  for (const tenant of TENANTS) {
    const own = records.filter(({ session }) => session.tenant === tenant);
    const counted = sessions.holdings.findTenant(tenant);
    expect(counted?.sessions ?? 0).toBe(own.length);
    expect(counted?.connections ?? 0).toBe(own.filter(({ attachment }) => attachment !== undefined).length);
    const weight = refs
      .filter((ref) => ref.tenant === tenant)
      .reduce((sum, ref) => sum + subscriptions.weight(ref), 0);
    expect(counted?.subscriptions ?? 0).toBe(weight);
    for (const clientId of CLIENT_IDS) {
      for (const identity of IDENTITIES) expectHolder(sessions, { ...identity, tenant }, clientId, own);
    }
  }
}

function expectHolder(
  { holdings }: MemoryStores['sessions'],
  identity: Identity,
  clientId: string,
  records: readonly ReturnType<MemoryStores['sessions']['get']>[],
): void {
  const keyOf = (each: Identity, id: string) => JSON.stringify(quotaHolderOf(each, id));
  const key = keyOf(identity, clientId);
  const held = records.filter((each) => each && keyOf(each.identity, each.session.clientId) === key);
  const counted = holdings.find(identity, clientId);
  expect(counted?.sessions ?? 0).toBe(held.length);
  expect(counted?.connections ?? 0).toBe(held.filter((each) => each?.attachment !== undefined).length);
}

import { latePublisher, quotaHolderKey, quotaHolderOf, rulesOfLists } from '@apus/broker';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const tenants = fc.stringMatching(/^[\w.-]{1,8}$/);
/** Signed subjects may be any text, U+0000 as well. */
const names = fc.string({
  unit: fc.constantFrom('a', 'b', '\0', '/', ':', 'identity', 'client'),
  maxLength: 6,
});
const clients = fc.record({ tenant: tenants, name: names, clientId: names });

describe('the holder of a quota', () => {
  test('of one tenant is never that of another, whatever names and client identifiers hold [SEC-TENANT-8]', () => {
    const keyOf = ({ tenant, name, clientId }: { tenant: string; name: string; clientId: string }) =>
      quotaHolderKey(quotaHolderOf({ tenant, name }, clientId));
    fc.assert(
      fc.property(clients, clients, (one, other) => {
        if (one.tenant !== other.tenant) expect(keyOf(one)).not.toBe(keyOf(other));
      }),
    );
  });

  test('is charged for a message that comes later by its quotas and by the plan of its tenant, without its rules', () => {
    const identity = {
      ...{ tenant: 'acme', name: 'ada', rules: rulesOfLists(['#'], ['#']), clientIds: ['+'] },
      quotas: { connectionsMax: 1 },
      plan: { deliveriesPerMinuteMax: 60 },
    };
    const charged = latePublisher({ identity, clientId: 'c' });
    expect(JSON.parse(JSON.stringify(charged))).toEqual({
      identity: {
        ...{ tenant: 'acme', name: 'ada' },
        quotas: { connectionsMax: 1 },
        plan: { deliveriesPerMinuteMax: 60 },
      },
      clientId: 'c',
    });
  });
});

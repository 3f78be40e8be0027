import { hashPassword, type TenantEntry } from '@apus/identity';
import { beforeEach, describe, expect, it } from 'vitest';
import { attachmentOf, messageOf, openOf, upTo } from '../../../broker/contract/samples.ts';
import type { OperatorBan } from '../../src/operator/create-operator.ts';
import { askOperator } from '../support/ask-operator.ts';
import { TimersWorld } from '../support/timers-world.ts';

const OWN = 'acme';
const OTHER = 'other';
const PAGE = { messages: 100, bytes: Number.POSITIVE_INFINITY } as const;

let world: TimersWorld;
beforeEach(async () => {
  world = await TimersWorld.create();
});

const ask = (request: object) => askOperator(world, request);

describe('the operator’s function, asked for another tenant with the same names [SEC-TENANT-5]', () => {
  beforeEach(async () => {
    const password = await hashPassword(Buffer.from('right'));
    await ask({
      action: 'add-user',
      tenant: OWN,
      user: { name: 'ann', password, publish: [], subscribe: [] },
    });
    await ask({ action: 'ban', tenant: OWN, as: 'username', who: 'eve' });
    const identity = { tenant: OWN, name: 'ann' };
    const opened = openOf('phone', { tenant: OWN, identity, attachment: attachmentOf('phone-1') });
    await world.process().cloud.stores.sessions.open(opened);
  });

  it.each([
    [{ action: 'clients' }, { clients: [] }],
    [{ action: 'clients', clientId: 'phone' }, { clients: [] }],
    [{ action: 'clients', username: 'ann' }, { clients: [] }],
    [{ action: 'kick', clientId: 'phone' }, { kicked: false }],
    [{ action: 'bans' }, { bans: [] }],
    [{ action: 'unban', as: 'username', who: 'eve' }, { unbanned: false }],
    [{ action: 'ban', as: 'clientid', who: 'phone' }, { expelled: 0 }],
    [{ action: 'revoke', token: 'ann' }, { expelled: 0 }],
    [{ action: 'users' }, { users: [] }],
    [
      { action: 'remove-user', name: 'ann' },
      { removed: false, expelled: 0 },
    ],
    [{ action: 'streams' }, { streams: [] }],
  ])('%j sees and changes nothing', async (request, nothing) => {
    expect(await ask({ ...request, tenant: OTHER })).toMatchObject(nothing);
    expect(await ask({ action: 'clients', tenant: OWN })).toMatchObject({ clients: [{ clientId: 'phone' }] });
    expect(await ask({ action: 'users', tenant: OWN })).toMatchObject({ users: [{ name: 'ann' }] });
    expect(await ask({ action: 'bans', tenant: OWN })).toMatchObject({ bans: [{ who: 'eve', tenant: OWN }] });
    expect(await world.process().cloud.stores.sessions.get(OWN, 'phone')).toMatchObject({
      attachment: { connectionId: 'phone-1' },
    });
  });

  it('lists bans of addresses to every tenant, and all bans where no tenant is named', async () => {
    await ask({ action: 'ban', tenant: OTHER, as: 'peerhost', who: '192.0.2.1' });
    await ask({ action: 'ban', tenant: OTHER, as: 'clientid', who: 'phone' });
    const whosOf = async (request: object) => {
      const { bans } = (await ask({ action: 'bans', ...request })) as {
        readonly bans: readonly OperatorBan[];
      };
      return bans.map(({ who }) => who).sort();
    };
    expect(await whosOf({ tenant: OWN })).toEqual(['192.0.2.1', 'eve']);
    expect(await whosOf({ tenant: OTHER })).toEqual(['192.0.2.1', 'phone']);
    expect(await whosOf({})).toEqual(['192.0.2.1', 'eve', 'phone']);
  });
});

describe('the register of tenants', () => {
  const acme = { name: OWN, plan: { connectionsMax: 3 } };
  const sessions = () => world.process().cloud.stores.sessions;

  async function openPhone(tenant: string) {
    const identity = { tenant, name: 'ann' };
    await sessions().open(openOf('phone', { tenant, identity, attachment: attachmentOf('phone-1') }));
  }

  it('creates, shows, lists and changes tenants, and reports unknown names', async () => {
    const created = (await ask({ action: 'create-tenant', entry: acme })) as { tenant: TenantEntry };
    expect(created.tenant).toMatchObject({ ...acme, state: 'active' });
    expect(await ask({ action: 'create-tenant', entry: acme })).toEqual({
      error: 'There is a tenant of that name already.',
    });
    expect(await ask({ action: 'tenant', name: OWN })).toEqual(created);
    expect(await ask({ action: 'tenant', name: OTHER })).toEqual({ tenant: null });
    const change = { plan: { connectionsMax: 5 } };
    expect(await ask({ action: 'change-tenant', name: OWN, change })).toMatchObject({ tenant: change });
    expect(await ask({ action: 'change-tenant', name: OTHER, change })).toEqual({ tenant: null });
    expect(await ask({ action: 'change-tenant', name: OWN, change: { plan: null } })).toEqual({
      tenant: { name: OWN, state: 'active', createdAt: created.tenant.createdAt },
    });
    expect(await ask({ action: 'tenants' })).toMatchObject({ tenants: [{ name: OWN }] });
  });

  it('lists a page at a time', async () => {
    for (let index = 0; index < 105; index += 1)
      await ask({ action: 'create-tenant', entry: { name: `t-${String(index).padStart(3, '0')}` } });
    const first = (await ask({ action: 'tenants' })) as { tenants: TenantEntry[]; next: string };
    expect(first.tenants).toHaveLength(100);
    const rest = await ask({ action: 'tenants', after: first.next });
    expect(rest).toMatchObject({ tenants: [{ name: 't-100' }, {}, {}, {}, { name: 't-104' }] });
  });

  it('suspends a tenant: ends its connections and keeps their sessions, and none of another [SEC-TENANT-6]', async () => {
    await ask({ action: 'create-tenant', entry: acme });
    for (const tenant of [OWN, OTHER]) await openPhone(tenant);
    const suspended = { state: 'suspended', reason: 'unpaid' };
    expect(await ask({ action: 'change-tenant', name: OWN, change: suspended })).toMatchObject({
      tenant: suspended,
      expelled: 1,
      isComplete: true,
    });
    expect((await sessions().get(OWN, 'phone'))?.attachment).toBeUndefined();
    expect((await sessions().get(OTHER, 'phone'))?.attachment).toBeDefined();
    const { bans } = world.process().cloud.stores;
    await bans.refresh();
    expect(bans.banOn({ tenant: OWN, name: 'bob' }, 'c', undefined)).toMatchObject({ as: 'tenant' });
    expect(bans.banOn({ tenant: OTHER, name: 'bob' }, 'c', undefined)).toBeUndefined();
    // No list of banned clients names it, and none takes it back.
    expect(await ask({ action: 'bans' })).toEqual({ bans: [] });
    expect(await ask({ action: 'unban', as: 'tenant', who: OWN, tenant: OWN })).toMatchObject({
      error: expect.stringContaining('"as" is'),
    });
    await ask({ action: 'change-tenant', name: OWN, change: { state: 'active' } });
    const later = world.process().cloud.stores.bans;
    await later.refresh();
    expect(later.banOn({ tenant: OWN, name: 'bob' }, 'c', undefined)).toBeUndefined();
  });

  it('keeps deliveries from connections of a suspended tenant that keep nothing [SEC-TENANT-6]', async () => {
    await ask({ action: 'create-tenant', entry: { ...acme, state: 'suspended' } });
    const { bans } = world.process().cloud.stores;
    await bans.refresh();
    const of = (tenant: string) => ({
      ...{ tenant, clientId: 'c', incarnation: '1', key: 'c' },
      attachment: attachmentOf('c-1'),
    });
    expect(bans.keepsOut?.(of(OWN))).toBe(true);
    expect(bans.keepsOut?.(of(OTHER))).toBe(false);
  });

  it('leaves sessions of a suspended tenant to end when they are due, and looks at none of them again before', async () => {
    await ask({ action: 'create-tenant', entry: acme });
    await openPhone(OWN);
    await ask({ action: 'change-tenant', name: OWN, change: { state: 'suspended' } });
    expect(await sessions().get(OWN, 'phone')).toBeDefined();
    expect(await world.sweep()).toMatchObject({ expelled: 0, sessionsEnded: 0 });
    const { expirySeconds } = openOf('phone', { tenant: OWN });
    world.time.nowMs += (expirySeconds + 3_600) * 1_000;
    expect(await world.sweep()).toMatchObject({ expelled: 0, sessionsEnded: 1 });
    expect(await sessions().get(OWN, 'phone')).toBeUndefined();
  });

  it('removes a suspended tenant with all that is kept for its clients', async () => {
    await ask({ action: 'create-tenant', entry: acme });
    const password = await hashPassword(Buffer.from('right'));
    for (const tenant of [OWN, OTHER]) {
      await openPhone(tenant);
      await ask({ action: 'add-user', tenant, user: { name: 'ann', password, publish: [], subscribe: [] } });
      await ask({ action: 'ban', tenant, as: 'username', who: 'eve' });
      await world.process().cloud.stores.retained.put(tenant, messageOf({ topic: 'state' }), upTo(10));
    }
    expect(await ask({ action: 'remove-tenant', name: OWN })).toMatchObject({
      error: expect.stringContaining('suspend it before'),
    });
    await ask({ action: 'change-tenant', name: OWN, change: { state: 'suspended' } });
    expect(await ask({ action: 'remove-tenant', name: OWN })).toMatchObject({ removed: true, expelled: 1 });
    expect(await ask({ action: 'remove-tenant', name: OWN })).toEqual({ removed: false });
    const left = async (tenant: string) => [
      ((await ask({ action: 'clients', tenant })) as { clients: [] }).clients.length,
      ((await ask({ action: 'users', tenant })) as { users: [] }).users.length,
      ((await ask({ action: 'bans', tenant })) as { bans: [] }).bans.length,
      (await world.process().cloud.stores.retained.match(tenant, '#', world.time.nowMs, undefined, PAGE))
        .messages.length,
    ];
    expect(await left(OWN)).toEqual([0, 0, 0, 0]);
    expect(await left(OTHER)).toEqual([1, 1, 1, 1]);
    expect(await ask({ action: 'tenants' })).toMatchObject({ tenants: [] });
  });

  it.each([
    [{ action: 'create-tenant' }, 'A tenant is a JSON object'],
    [{ action: 'create-tenant', entry: { name: 'default' } }, 'there by itself'],
    [{ action: 'create-tenant', entry: { name: OWN, plan: { connectionsMax: -1 } } }, 'whole number'],
    [{ action: 'create-tenant', entry: { name: OWN, keys: [{ pem: 'x' }] } }, 'keys[0]'],
    [{ action: 'change-tenant', name: 'default', change: {} }, 'is no tenant of the register'],
    [{ action: 'tenant' }, '"name" is missing'],
    [{ action: 'remove-tenant' }, '"name" is missing'],
  ])('%j is answered with a sentence', async (request, sentence) => {
    expect(await ask(request)).toEqual({ error: expect.stringContaining(sentence) });
  });

  it('refuses a change of a field that is not known', async () => {
    await ask({ action: 'create-tenant', entry: acme });
    expect(await ask({ action: 'change-tenant', name: OWN, change: { name: 'b' } })).toMatchObject({
      error: expect.stringContaining('"name" of a tenant cannot be changed'),
    });
  });
});

import { hashPassword } from '@apus/identity';
import { beforeEach, describe, expect, it } from 'vitest';
import { attachmentOf, messageOf, openOf, upTo } from '../../../broker/contract/samples.ts';
import { askOperator, operatorOf } from '../support/ask-operator.ts';
import { TimersWorld } from '../support/timers-world.ts';

const OWN = 'acme';
const OTHER = 'other';
const PAGE = { messages: 100, bytes: Number.POSITIVE_INFINITY } as const;

let world: TimersWorld;
beforeEach(async () => {
  world = await TimersWorld.create();
});

const ask = (method: string, path: string, body?: object) => askOperator(world, method, path, body);
const askAs = (tenant: string, method: string, path: string, body?: object) =>
  askOperator(world, method, path, body, tenant);
const sessions = () => world.process().cloud.stores.sessions;

async function openPhone(tenant: string) {
  const identity = { tenant, name: 'ann' };
  await sessions().open(openOf('phone', { tenant, identity, attachment: attachmentOf('phone-1') }));
}

/** The number of clients, users and bans of a tenant. */
async function countsOf(tenant: string): Promise<number[]> {
  const pages = ['/clients', '/users', '/banned'].map((path) => askAs(tenant, 'GET', path));
  return (await Promise.all(pages)).map(({ body }) => body.data.length);
}

/** A client, a user and a ban of a tenant. */
async function furnish(tenant: string): Promise<void> {
  const password = await hashPassword(Buffer.from('right'));
  await openPhone(tenant);
  await askAs(tenant, 'POST', '/users', { name: 'ann', password, publish: [], subscribe: [] });
  await askAs(tenant, 'POST', '/banned', { as: 'username', who: 'eve' });
}

describe('the operator’s function', () => {
  it('acts for the tenant that the event names, also in capital letters, and for no other [SEC-TENANT-5]', async () => {
    await furnish(OWN);
    for (const tenant of [OTHER, 'default']) {
      expect(await countsOf(tenant)).toEqual([0, 0, 0]);
      for (const path of ['/clients/phone', '/banned/username/eve', '/users/ann'])
        expect(await askAs(tenant, 'DELETE', path)).toMatchObject({ status: 404 });
    }
    expect(await ask('DELETE', '/clients/phone')).toMatchObject({ status: 404 });
    expect(await countsOf(OWN)).toEqual([1, 1, 1]);
    expect(await sessions().get(OWN, 'phone')).toMatchObject({ attachment: { connectionId: 'phone-1' } });
    expect(await askAs(OWN, 'DELETE', '/clients/phone')).toMatchObject({ status: 204 });
    expect(await askAs('a b', 'GET', '/clients')).toMatchObject({ status: 400 });
  });

  it('lists bans of addresses to every tenant [SEC-TENANT-5]', async () => {
    await askAs(OTHER, 'POST', '/banned', { as: 'peerhost', who: '192.0.2.1' });
    await askAs(OTHER, 'POST', '/banned', { as: 'clientid', who: 'phone' });
    expect((await askAs(OWN, 'GET', '/banned')).body.data).toMatchObject([{ who: '192.0.2.1' }]);
    expect((await askAs(OTHER, 'GET', '/banned')).body.data).toHaveLength(2);
  });

  it.each([
    ['GET', '/rules'],
    ['GET', '/rules/hot/dead_letters'],
    ['GET', '/bridges'],
    ['GET', '/breaker'],
    ['GET', '/metrics'],
    ['POST', '/publish'],
  ])('says where to ask instead of %s %s', async (method, path) => {
    expect(await ask(method, path)).toMatchObject({ status: 501, body: { code: 'NOT_SUPPORTED' } });
  });

  it.each([{}, { action: 'clients' }, { rawPath: '/api/v5/clients' }])(
    'refuses %j, which is no event of a function URL',
    async (event) => {
      const answer = operatorOf(world)(event as never, { getRemainingTimeInMillis: () => 60_000 });
      expect(await answer).toMatchObject({ statusCode: 400, body: expect.stringContaining('rawPath') });
    },
  );
});

describe('the register of tenants', () => {
  const acme = { name: OWN, plan: { connectionsMax: 3 } };
  it('lists a page at a time', async () => {
    for (const name of ['a', 'b', 'c']) await ask('POST', '/tenants', { name });
    const { body: first } = await ask('GET', '/tenants?limit=2');
    expect(first.data).toMatchObject([{ name: 'a' }, { name: 'b' }]);
    const { body: rest } = await ask('GET', `/tenants?limit=2&after=${first.meta.next}`);
    expect(rest).toMatchObject({ data: [{ name: 'c' }], meta: { hasnext: false } });
  });

  it('suspends a tenant: ends its connections and keeps their sessions, and none of another [SEC-TENANT-6]', async () => {
    await ask('POST', '/tenants', acme);
    for (const tenant of [OWN, OTHER]) await openPhone(tenant);
    const suspended = { state: 'suspended', reason: 'unpaid' };
    const { body } = await ask('PUT', `/tenants/${OWN}`, suspended);
    expect(body).toMatchObject({ ...suspended, expelled: 1, is_complete: true });
    expect((await sessions().get(OWN, 'phone'))?.attachment).toBeUndefined();
    expect((await sessions().get(OTHER, 'phone'))?.attachment).toBeDefined();
    const { bans } = world.process().cloud.stores;
    await bans.refresh();
    expect(bans.banOn({ tenant: OWN, name: 'bob' }, 'c', undefined)).toMatchObject({ as: 'tenant' });
    expect(bans.banOn({ tenant: OTHER, name: 'bob' }, 'c', undefined)).toBeUndefined();
    // No list of banned clients names it, and none takes it back.
    expect((await askAs(OWN, 'GET', '/banned')).body.data).toEqual([]);
    expect(await askAs(OWN, 'DELETE', `/banned/tenant/${OWN}`)).toMatchObject({ status: 400 });
    await ask('PUT', `/tenants/${OWN}`, { state: 'active' });
    const later = world.process().cloud.stores.bans;
    await later.refresh();
    expect(later.banOn({ tenant: OWN, name: 'bob' }, 'c', undefined)).toBeUndefined();
  });

  it('keeps deliveries from connections of a suspended tenant that keep nothing [SEC-TENANT-6]', async () => {
    await ask('POST', '/tenants', { ...acme, state: 'suspended' });
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
    await ask('POST', '/tenants', acme);
    await openPhone(OWN);
    await ask('PUT', `/tenants/${OWN}`, { state: 'suspended' });
    expect(await sessions().get(OWN, 'phone')).toBeDefined();
    expect(await world.sweep()).toMatchObject({ expelled: 0, sessionsEnded: 0 });
    const { expirySeconds } = openOf('phone', { tenant: OWN });
    world.time.nowMs += (expirySeconds + 3_600) * 1_000;
    expect(await world.sweep()).toMatchObject({ expelled: 0, sessionsEnded: 1 });
    expect(await sessions().get(OWN, 'phone')).toBeUndefined();
  });

  it('removes a suspended tenant with all that is kept for its clients', async () => {
    await ask('POST', '/tenants', acme);
    for (const tenant of [OWN, OTHER]) {
      await furnish(tenant);
      await world.process().cloud.stores.retained.put(tenant, messageOf({ topic: 'state' }), upTo(10));
    }
    expect(await ask('DELETE', `/tenants/${OWN}`)).toMatchObject({
      body: { message: expect.stringContaining('suspend it before') },
    });
    await ask('PUT', `/tenants/${OWN}`, { state: 'suspended' });
    expect(await ask('DELETE', `/tenants/${OWN}`)).toMatchObject({ status: 204 });
    expect(await ask('DELETE', `/tenants/${OWN}`)).toMatchObject({ status: 404 });
    const left = async (tenant: string) => {
      const { retained } = world.process().cloud.stores;
      const { messages } = await retained.match(tenant, '#', world.time.nowMs, undefined, PAGE);
      return [...(await countsOf(tenant)), messages.length];
    };
    expect(await left(OWN)).toEqual([0, 0, 0, 0]);
    expect(await left(OTHER)).toEqual([1, 1, 1, 1]);
    expect((await ask('GET', '/tenants')).body.data).toEqual([]);
  });
});

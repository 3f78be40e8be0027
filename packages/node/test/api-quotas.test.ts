import { type Authenticator, rulesOfLists } from '@apus/broker';
import { describe, expect, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import type { RunningNode } from '../src/index.ts';
import { call } from './support/call-api.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';
import { nodeForTest } from './support/nodes.ts';

const API_KEY = 'a-key-of-more-than-22-characters';
const AUTHORIZED = { authorization: `Bearer ${API_KEY}` };
const MAX = 60_000;

/** `TENANT/NAME`; the tenant `planned` has a plan. */
const byUserName: Authenticator = {
  authenticate({ username = '' }) {
    const [tenant = '', name = ''] = username.split('/');
    const plan = tenant === 'planned' ? { plan: { deliveriesPerMinuteMax: 7 } } : {};
    return { tenant, name, clientIds: ['+'], rules: rulesOfLists(['#'], ['#']), ...plan };
  },
};

async function start(quotas: object) {
  const clock = new FakeScheduler();
  const node = await nodeForTest({ clock, apiKey: API_KEY, authenticator: byUserName, quotas });
  return { clock, node };
}

async function subscriber({ url }: RunningNode, username: string): Promise<RawClient> {
  const { client } = await RawClient.connect(url, { username });
  client.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'news/#', qos: 1 }] });
  await client.expect('suback');
  return client;
}

async function publish({ url }: RunningNode, username: string, count: number): Promise<void> {
  const { client } = await RawClient.connect(url, { username });
  for (let messageId = 1; messageId <= count; messageId += 1)
    client.send({ cmd: 'publish', topic: 'news/a', qos: 1, messageId, payload: 'x' });
  for (let messageId = 1; messageId <= count; messageId += 1) await client.expect('puback');
}

async function usedOf({ httpUrl }: RunningNode, tenant: string, scope: string, name: string) {
  const { body } = await call(httpUrl, '/quotas', 'GET', { ...AUTHORIZED, 'apus-tenant': tenant });
  const { data } = body as { readonly data: readonly Readonly<Record<string, unknown>>[] };
  return data.find((quota) => quota.scope === scope && quota.name === name);
}

describe('the deliveries that a tenant has caused, beside what it may', () => {
  test('are those of the last minute, each copy once, and of no other tenant [SEC-TENANT-4]', async () => {
    const { clock, node } = await start({
      tenant: { deliveriesPerMinuteMax: MAX },
      broker: { deliveriesPerMinuteMax: 2 * MAX },
    });
    const of = (tenant: string, scope = 'tenant') => usedOf(node, tenant, scope, 'deliveriesPerMinuteMax');
    for (const name of ['one', 'two', 'three']) await subscriber(node, `acme/${name}`);
    await subscriber(node, 'other/one');
    await publish(node, 'acme/ann', 5);
    expect(await of('acme')).toEqual({
      ...{ scope: 'tenant', name: 'deliveriesPerMinuteMax', max: MAX, used: 15 },
    });
    expect(await of('other')).toMatchObject({ max: MAX, used: 0 });
    await publish(node, 'other/ann', 2);
    expect(await of('other')).toMatchObject({ used: 2 });
    expect(await of('acme')).toMatchObject({ used: 15 });
    expect(await of('acme', 'broker')).toMatchObject({ max: 2 * MAX, used: 17 });
    clock.advance(30_000);
    await publish(node, 'acme/ann', 1);
    expect(await of('acme')).toMatchObject({ used: 18 });
    clock.advance(30_000);
    expect(await of('acme')).toMatchObject({ used: 3 });
    clock.advance(30_000);
    expect(await of('acme')).toMatchObject({ used: 0 });
    expect(await of('acme', 'broker')).toMatchObject({ used: 0 });
  });

  test('count those of messages that backends publish through the API', async () => {
    const { node } = await start({ tenant: { deliveriesPerMinuteMax: MAX } });
    await subscriber(node, 'acme/one');
    await fetch(new URL('/api/v5/publish', node.httpUrl), {
      method: 'POST',
      headers: { ...AUTHORIZED, 'content-type': 'application/json', 'apus-tenant': 'acme' },
      body: JSON.stringify({ topic: 'news/a', payload: 'x' }),
    });
    expect(await usedOf(node, 'acme', 'tenant', 'deliveriesPerMinuteMax')).toMatchObject({ used: 1 });
  });

  test('are not listed where nothing bounds them, and are not counted for each identity', async () => {
    const { node } = await start({});
    await subscriber(node, 'acme/one');
    await publish(node, 'acme/ann', 3);
    expect(await usedOf(node, 'acme', 'tenant', 'deliveriesPerMinuteMax')).toBeUndefined();
    expect(await usedOf(node, 'acme', 'identity', 'deliveriesPerMinuteMax')).toMatchObject({
      ...{ max: 6_000_000, used: null },
    });
  });
});

import { rulesOfLists } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';
import type { NodeOptions, RunningNode } from '@apus/node';
import { expect, test } from 'vitest';
import { bridgedNode, clientFor, collector, nodeForTest } from './support/bridged.ts';
import { receiver } from './support/receiver.ts';
import { LOOPBACK, ruledNode } from './support/ruled.ts';

const API_KEY = 'a-key-of-more-than-22-characters';
const AUTHORIZED = { authorization: `Bearer ${API_KEY}` };
const [OWN, OTHER] = ['acme', 'other'];
const UP = { filter: '#', localPrefix: 'up/', remotePrefix: 'plant/', qos: 1 };
const DOWN = { filter: '#', localPrefix: 'down/', remotePrefix: 'orders/', qos: 1 };
const KEPT = { clean: false, properties: { sessionExpiryInterval: 60 } };

/** The tenant of a client is its user name. */
const OPTIONS: NodeOptions = {
  apiKey: API_KEY,
  authenticator: {
    authenticate: ({ username = '' }) => ({
      ...{ tenant: username, name: 'ann', clientIds: ['+'], rules: rulesOfLists(['#'], ['#']) },
    }),
  },
};
const as = (username: string) => ({ username, password: '-' });

async function listed({ httpUrl }: RunningNode, path: string, tenant: string) {
  const response = await fetch(new URL(`/api/v5/${path}`, httpUrl), {
    headers: { ...AUTHORIZED, 'apus-tenant': tenant },
  });
  return ((await response.json()) as { readonly data: readonly { readonly status: string }[] }).data;
}

test('a bridge carries out messages of its own tenant, and brings in messages for that tenant alone [SEC-TENANT-2]', async () => {
  const there = await nodeForTest();
  const here = await bridgedNode({ tenant: OWN, mqtt: { url: there.url }, out: [UP], in: [DOWN] }, OPTIONS);
  await expect.poll(async () => (await listed(here, 'bridges', OWN))[0]?.status).toBe('connected');
  expect(await listed(here, 'bridges', OTHER)).toEqual([]);
  const remote = await collector(there.url, 'plant/#');
  const own = await collector(here.url, '#', as(OWN));
  const other = await collector(here.url, '#', as(OTHER));
  await other.client.publishAsync('up/a', 'of the other', { qos: 1 });
  await own.client.publishAsync('up/a', 'of acme', { qos: 1 });
  await expect.poll(remote.texts).toEqual(['of acme']);
  await remote.client.publishAsync('orders/x', 'from afar', { qos: 1 });
  await expect.poll(own.texts).toEqual(['of acme', 'from afar']);
  await other.client.publishAsync('last', 'last', { qos: 1 });
  await expect.poll(other.texts).toEqual(['of the other', 'last']);
});

test('the session of a bridge cannot be taken by a client of another tenant with the same name [SEC-TENANT-2]', async () => {
  const there = await nodeForTest();
  const here = await bridgedNode({ tenant: OWN, mqtt: { url: there.url }, out: [UP] }, OPTIONS);
  const remote = await collector(there.url, 'plant/#');
  // [SEC-OWNER-5]
  await expect(
    clientFor(here.url, { ...as(OTHER), ...KEPT, clientId: '$bridge/test' }),
  ).rejects.toMatchObject({
    code: ReasonCode.ClientIdentifierNotValid,
  });
  const clientId = `${OWN}/$bridge/test`;
  const forged = await collector(here.url, 'up/#', { ...as(OTHER), ...KEPT, clientId });
  const own = await clientFor(here.url, as(OWN));
  await own.publishAsync('up/a', clientId, { qos: 1 });
  await expect.poll(() => remote.texts().at(-1)).toBe(clientId);
  await forged.client.publishAsync('up/b', 'own', { qos: 1 });
  await expect.poll(forged.texts).toEqual(['own']);
  expect(remote.texts()).toHaveLength(1);
});

test('a rule acts on messages of its own tenant alone, and no other tenant learns of it [SEC-TENANT-2]', async () => {
  const server = await receiver();
  const to = { webhook: { url: server.url, allowAddresses: LOOPBACK } };
  const node = await ruledNode([{ tenant: OWN, filter: '#', to }], OPTIONS);
  const other = await clientFor(node.url, { ...as(OTHER), clientId: 'rule/test' });
  const own = await clientFor(node.url, as(OWN));
  await other.publishAsync('a', 'of the other', { qos: 1 });
  await own.publishAsync('a', 'of acme', { qos: 1 });
  await expect.poll(() => server.payloads()).toEqual(['of acme']);
  expect(await listed(node, 'rules', OTHER)).toEqual([]);
  expect(await listed(node, 'rules', OWN)).toMatchObject([{ sent: 1, matched: 1 }]);
});

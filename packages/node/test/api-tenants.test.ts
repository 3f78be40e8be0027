import { rulesAuthorizer, rulesOfLists } from '@apus/broker';
import { beforeAll, describe, expect, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { type RunningNode, startNode } from '../src/index.ts';
import { call } from './support/call-api.ts';
import { nodeForTest } from './support/nodes.ts';

const KEY = 'a-key-of-more-than-22-characters';
const [OWN, OTHER] = ['acme', 'others'];

/** A node where the tenant of a client is its user name. */
const OPTIONS = {
  apiKey: KEY,
  authenticator: {
    authenticate: ({ username = '' }) => ({
      tenant: username,
      name: 'ann',
      clientIds: ['+'],
      rules: rulesOfLists(['#'], ['#']),
    }),
  },
  authorizer: rulesAuthorizer,
  streams: [{ name: 'chat', topicFilter: 'chat/#' }],
};

const ask = (node: RunningNode, tenant: string | undefined, path: string, method = 'GET') =>
  call(node.httpUrl, path, method, {
    authorization: `Bearer ${KEY}`,
    ...(tenant !== undefined && { 'apus-tenant': tenant }),
  });

async function post(node: RunningNode, tenant: string, path: string, body: object): Promise<number> {
  const headers = {
    authorization: `Bearer ${KEY}`,
    'content-type': 'application/json',
    'apus-tenant': tenant,
  };
  const url = new URL(`/api/v5${path}`, node.httpUrl);
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).status;
}

async function phoneOf(node: RunningNode, tenant: string): Promise<RawClient> {
  const { client } = await RawClient.connect(node.url, { clientId: 'phone', username: tenant });
  const subscriptions = ['#', '$share/g/#'].map((topic) => ({ topic, qos: 0 }));
  client.send({ cmd: 'subscribe', messageId: 1, subscriptions });
  await client.expect('suback');
  return client;
}

/** A client, what it subscribes to, a retained message, the message of a stream, and a ban. */
async function furnish(node: RunningNode, tenant: string): Promise<RawClient> {
  const client = await phoneOf(node, tenant);
  expect(await post(node, tenant, '/publish', { topic: 'state', payload: 'kept', retain: true })).toBe(200);
  expect(await post(node, tenant, '/publish', { topic: 'chat/a', payload: 'said' })).toBe(200);
  expect(await post(node, tenant, '/banned', { as: 'username', who: 'eve' })).toBe(200);
  return client;
}

/** `test/api/node.test.ts` asks for every tenant's own with every operation of the document. */
describe('the API for a tenant without anything, beside one with everything', () => {
  let node: RunningNode;
  beforeAll(async () => {
    node = await startNode({ port: 0, logLevel: 'silent', ...OPTIONS });
    const client = await furnish(node, OWN);
    return async () => {
      client.close();
      await node.stop();
    };
  });

  test('publishes and bans for that tenant alone [SEC-TENANT-4]', async () => {
    expect(
      await post(node, OTHER, '/publish', { topic: 'state', payload: 'of the other', retain: true }),
    ).toBe(202);
    expect(await post(node, OTHER, '/banned', { as: 'clientid', who: 'phone' })).toBe(200);
    const { body } = await ask(node, OWN, '/mqtt/retainer/message/state');
    expect(Buffer.from((body as { payload: string }).payload, 'base64').toString()).toBe('kept');
    expect((await ask(node, OWN, '/clients/phone')).body).toMatchObject({ connected: true });
    await ask(node, OTHER, '/banned', 'DELETE');
    await ask(node, OTHER, '/mqtt/retainer/message/state', 'DELETE');
  });
});

test('an address is banned for all tenants, and each of them sees the ban', async () => {
  const node = await nodeForTest(OPTIONS);
  expect(await post(node, OTHER, '/banned', { as: 'peerhost', who: '192.0.2.7' })).toBe(200);
  expect((await ask(node, OWN, '/banned')).body).toMatchObject({ data: [{ who: '192.0.2.7' }] });
});

test('a tenant with an invalid name is refused', async () => {
  const node = await nodeForTest(OPTIONS);
  for (const name of ['a b', '', 'x'.repeat(65)])
    expect(await ask(node, name, '/clients')).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
});

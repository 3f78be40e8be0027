import { rulesAuthorizer, rulesOfLists } from '@apus/broker';
import { beforeAll, describe, expect, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { type RunningNode, startNode } from '../src/index.ts';
import { call } from './support/call-api.ts';
import { nodeForTest } from './support/nodes.ts';

const KEY = 'a-key-of-more-than-22-characters';
const [OWN, OTHER] = ['acme', 'others'];

/** Every question that the API answers about clients and messages, with what it says of a tenant without any. */
const QUESTIONS: Readonly<Record<string, { readonly path: string; readonly nothing: object }>> = {
  stats: {
    path: '/stats',
    nothing: [
      {
        'connections.count': 0,
        'live_connections.count': 0,
        'sessions.count': 0,
        'subscriptions.count': 0,
        'subscriptions.shared.count': 0,
        'retained.count': 0,
      },
    ],
  },
  clients: { path: '/clients', nothing: { data: [] } },
  'one client': { path: '/clients/phone', nothing: { code: 'CLIENTID_NOT_FOUND' } },
  'its subscriptions': { path: '/clients/phone/subscriptions', nothing: { code: 'CLIENTID_NOT_FOUND' } },
  subscriptions: { path: '/subscriptions', nothing: { data: [] } },
  topics: { path: '/topics', nothing: { data: [] } },
  bans: { path: '/banned', nothing: { data: [] } },
  'retained messages': { path: '/mqtt/retainer/messages', nothing: { data: [] } },
  'one retained message': { path: '/mqtt/retainer/message/state', nothing: { code: 'NOT_FOUND' } },
  streams: { path: '/streams', nothing: { data: [{ topics: 0, messages: 0, bytes: 0 }] } },
  'messages of a stream': { path: '/streams/chat/messages?topic=chat/a', nothing: { data: [] } },
};

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

  test.each(Object.entries(QUESTIONS))('says nothing of %s [SEC-TENANT-4]', async (_, { path, nothing }) => {
    const other = (await ask(node, OTHER, path)).body;
    expect(other).toMatchObject(nothing);
    expect(await ask(node, undefined, path)).toMatchObject({ body: nothing });
    const own = await ask(node, OWN, path);
    expect(own.status).toBe(200);
    expect(own.body).not.toMatchObject(nothing);
  });

  test.each([
    ['/clients/phone', 404],
    ['/mqtt/retainer/message/state', 404],
    ['/banned/username/eve', 404],
    ['/banned', 204],
  ])('takes nothing away by DELETE %s [SEC-TENANT-4]', async (path, status) => {
    expect((await ask(node, OTHER, path, 'DELETE')).status).toBe(status);
    for (const { path: question, nothing } of Object.values(QUESTIONS))
      expect((await ask(node, OWN, question)).body).not.toMatchObject(nothing);
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

test('an address is banned for all tenants, and each is told', async () => {
  const node = await nodeForTest(OPTIONS);
  expect(await post(node, OTHER, '/banned', { as: 'peerhost', who: '192.0.2.7' })).toBe(200);
  expect((await ask(node, OWN, '/banned')).body).toMatchObject({ data: [{ who: '192.0.2.7' }] });
});

test('a tenant with a name that cannot be is refused', async () => {
  const node = await nodeForTest(OPTIONS);
  for (const name of ['a b', '', 'x'.repeat(65)])
    expect(await ask(node, name, '/clients')).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
});

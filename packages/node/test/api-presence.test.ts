import { expect, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { call } from './support/call-api.ts';
import { nodeForTest } from './support/nodes.ts';

async function enter(url: string, tenant: string, room: string, member: string): Promise<RawClient> {
  const { client } = await RawClient.connect(url, { clientId: `${member}-phone`, username: tenant });
  const topic = `$presence/${room}/${member}`;
  client.send({ cmd: 'publish', topic, payload: 'here', qos: 1, messageId: 1, retain: false, dup: false });
  expect((await client.expect('puback')).reasonCode ?? 0).toBe(0);
  return client;
}

/** The user name is the tenant. */
const authenticator = {
  authenticate: ({ username = 'default' }) => ({ tenant: username, name: '' }),
};

const ofTenant = (tenant: string) => ({ 'apus-tenant': tenant });

test('GET /api/v5/presence/ROOM lists the members of a room, a page at a time', async () => {
  const node = await nodeForTest();
  const ann = await enter(node.url, 'default', 'r 7', 'ann');
  await enter(node.url, 'default', 'r 7', 'bob');
  await enter(node.url, 'default', 'elsewhere', 'eve');
  expect((await call(node.httpUrl, '/presence/r%207?limit=1')).body).toEqual({
    data: [
      {
        member: 'ann',
        payload: Buffer.from('here').toString('base64'),
        joined_at: expect.stringMatching(/^20.*Z$/),
        clientids: ['ann-phone'],
      },
    ],
    meta: { page: 1, limit: 1, count: 2, hasnext: true, next: '1' },
  });
  await ann.disconnect();
  await expect
    .poll(async () => (await call(node.httpUrl, '/presence/r%207')).body)
    .toMatchObject({ data: [{ member: 'bob' }], meta: { count: 1 } });
  expect(await call(node.httpUrl, '/presence/nowhere')).toMatchObject({ status: 200, body: { data: [] } });
  expect(await call(node.httpUrl, '/presence/r?limit=x')).toMatchObject({ status: 400 });
});

test('rooms of one name are others in each tenant, for watchers and for the API [SEC-TENANT-4]', async () => {
  const node = await nodeForTest({
    authenticator,
    apiKey: undefined,
    allowAnonymous: true,
    host: '127.0.0.1',
  });
  const { client: watcher } = await RawClient.connect(node.url, { username: 'red' });
  watcher.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '$presence/hall/+', qos: 0 }] });
  await watcher.expect('suback');
  await enter(node.url, 'blue', 'hall', 'bob');
  await enter(node.url, 'red', 'hall', 'ann');
  expect(await watcher.expect('publish')).toMatchObject({ topic: '$presence/hall/ann' });
  await watcher.expectNothing();
});

test('the API lists the rooms of one tenant [SEC-TENANT-4]', async () => {
  const key = 'a-key-of-more-than-22-characters';
  const node = await nodeForTest({ authenticator, apiKey: key });
  await enter(node.url, 'blue', 'hall', 'bob');
  await enter(node.url, 'red', 'hall', 'ann');
  const asked = { authorization: `Bearer ${key}`, ...ofTenant('red') };
  const { body } = await call(node.httpUrl, '/presence/hall', 'GET', asked);
  expect(body).toMatchObject({ data: [{ member: 'ann' }], meta: { count: 1 } });
});

test('POST /api/v5/publish makes no member present', async () => {
  const { httpUrl } = await nodeForTest();
  const response = await fetch(new URL('/api/v5/publish', httpUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ topic: '$presence/hall/ann', payload: 'here' }),
  });
  expect(response.status).toBe(400);
  expect((await call(httpUrl, '/presence/hall')).body).toMatchObject({ data: [] });
});

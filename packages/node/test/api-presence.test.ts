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

import { describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../../../test/support/patience.ts';
import { RawClient } from '../../../test/support/raw-client.ts';
import { subscribe, TextClient } from '../../../test/support/text-client.ts';
import { call } from '../../node/test/support/call-api.ts';
import { FakeScheduler } from '../../node/test/support/fake-scheduler.ts';
import { doorsForTest } from './support/doors.ts';

const PATIENT = { timeout: PATIENCE_MS };

test('/counters counts the messages that API Gateway would bill for the gateway door', async () => {
  const node = await doorsForTest({ gatewayPort: 0, counters: true });
  const url = node.gateway?.url ?? '';
  await TextClient.connect(url);
  await node.gateway?.emulator.quiet();
  const response = await fetch(new URL('/counters', node.httpUrl));
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await response.json()).toMatchObject({
    gateway: { url, counters: { messages: { in: { billed: 1 }, replies: { billed: 1 } } } },
  });
});

test('/config.json tells the page where both doors are', async () => {
  const node = await doorsForTest({ gatewayPort: 0 });
  const response = await fetch(new URL('/config.json', node.httpUrl));
  const { port } = new URL(node.gateway?.url ?? '');
  expect(await response.json()).toEqual({
    endpoints: [
      { door: 'node', path: '/mqtt', maximumPacketSizeBytes: 2_097_152 },
      { door: 'gateway', port: Number(port), path: '/mqtt', maximumPacketSizeBytes: 24_573 },
    ],
    api: { path: '/api/v5', access: 'local' },
  });
});

test('POST /api/v5/publish reaches clients of both doors', async () => {
  const node = await doorsForTest({ gatewayPort: 0 });
  const { client: here } = await RawClient.connect(node.url);
  here.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'a/+', qos: 1 }] });
  await here.expect('suback');
  const { client: there } = await TextClient.connect(node.gateway?.url ?? '');
  await there.exchange(subscribe('a/+', { qos: 1 }));
  const answer = await fetch(new URL('/api/v5/publish', node.httpUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ topic: 'a/b', payload: 'hello', qos: 1 }),
  });
  expect([answer.status, await answer.json()]).toEqual([200, { id: expect.any(String) }]);
  expect(await here.next()).toMatchObject({ cmd: 'publish', topic: 'a/b', qos: 1 });
  expect((await there.pushes.next()).packets).toMatchObject([{ cmd: 'publish', topic: 'a/b', qos: 1 }]);
});

describe('clients in the API', () => {
  test('of both doors are listed with what is known of each', async () => {
    const clock = new FakeScheduler();
    const node = await doorsForTest({ gatewayPort: 0, clock });
    const { client } = await RawClient.connect(node.url, {
      clientId: 'at-node',
      keepalive: 30,
      properties: { sessionExpiryInterval: 60 },
    });
    client.send({
      cmd: 'subscribe',
      messageId: 1,
      subscriptions: [{ topic: 'a/#', qos: 1, nl: true, rap: false, rh: 0 }],
    });
    await client.expect('suback');
    await TextClient.connect(node.gateway?.url ?? '', { clientId: 'at-gateway' });
    const { body } = await call(node.httpUrl, '/clients');
    expect(body).toMatchObject({
      meta: { page: 1, limit: 100, count: 2, hasnext: false },
      data: [
        {
          clientid: 'at-node',
          door: 'node',
          connected: true,
          ip_address: '127.0.0.1',
          proto_ver: 5,
          keepalive: 30,
          expiry_interval: 60,
          subscriptions_cnt: 1,
          mqueue_len: 0,
        },
        { clientid: 'at-gateway', door: 'gateway', connected: true, ip_address: null },
      ],
    });
    expect((await call(node.httpUrl, '/clients/at-node')).body).toMatchObject({ clientid: 'at-node' });
    expect((await call(node.httpUrl, '/clients/at-gateway')).body).toMatchObject({ recv_msg: null });
    expect((body as { data: object[] }).data[0]).not.toHaveProperty('quotas');
    expect((await call(node.httpUrl, '/clients?like_clientid=gate')).body).toMatchObject({
      meta: { count: 1 },
    });
    expect((await call(node.httpUrl, '/clients?limit=1&page=2')).body).toMatchObject({
      meta: { page: 2, limit: 1, count: 2, hasnext: false },
      data: [{ clientid: 'at-gateway' }],
    });
    expect((await call(node.httpUrl, '/clients/at-node/subscriptions')).body).toEqual([
      { node: 'apus', clientid: 'at-node', topic: 'a/#', qos: 1, nl: 1, rap: 0, id: null },
    ]);
    await client.vanish();
    await expect
      .poll(async () => (await call(node.httpUrl, '/clients?conn_state=disconnected')).body, PATIENT)
      .toMatchObject({ meta: { count: 1 }, data: [{ clientid: 'at-node', connected: false, door: null }] });
  });

  test('of the gateway door can be disconnected too', async () => {
    const node = await doorsForTest({ gatewayPort: 0 });
    const { client } = await TextClient.connect(node.gateway?.url ?? '', { clientId: 'at-gateway' });
    expect((await call(node.httpUrl, '/clients/at-gateway', 'DELETE')).status).toBe(204);
    await client.expectClose();
    await expect
      .poll(async () => (await call(node.httpUrl, '/clients/at-gateway')).status, PATIENT)
      .toBe(404);
  });
});

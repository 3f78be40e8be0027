import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { PATIENCE_MS } from '../../../test/support/patience.ts';
import type { RunningNode } from '../src/index.ts';
import { startNode } from '../src/index.ts';
import { call } from './support/call-api.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';
import { nodeForTest } from './support/nodes.ts';

const KEY = 'a-key-of-more-than-22-characters';
const VIEWER = 'another-key-of-more-than-22-characters';
const PATIENT = { timeout: PATIENCE_MS };

type Data = { readonly data: readonly Readonly<Record<string, unknown>>[] };

async function client(node: RunningNode, options: IClientOptions = {}): Promise<MqttClient> {
  const connected = await mqtt.connectAsync(node.url, { protocolVersion: 5, reconnectPeriod: 0, ...options });
  onTestFinished(() => connected.endAsync(true));
  return connected;
}

const dataOf = async (node: RunningNode, path: string, headers = {}): Promise<Data['data']> =>
  ((await call(node.httpUrl, path, 'GET', headers)).body as Data).data;

const startTrace = (node: RunningNode, trace: object, headers = {}) =>
  call(node.httpUrl, '/trace', 'POST', headers, { name: 'one', ...trace });

describe('a client’s own history', () => {
  test('says when it connected, was kicked and left, and why', async () => {
    const node = await nodeForTest();
    await client(node, { clientId: 'sensor' });
    await call(node.httpUrl, '/clients/sensor', 'DELETE');
    const again = await client(node, { clientId: 'sensor' });
    await again.endAsync();
    await vi.waitFor(async () => {
      const events = await dataOf(node, '/client_events?clientid=sensor');
      expect(events.map(({ event, reason }) => [event, reason]).reverse()).toEqual([
        ['connected', null],
        ['kicked', expect.any(String)],
        ['disconnected', 'kicked'],
        ['connected', null],
        ['disconnected', 'normal'],
      ]);
      expect(events.at(-1)).toMatchObject({ clientid: 'sensor', ip_address: '127.0.0.1', node: 'apus' });
    }, PATIENT);
  });

  test('says that it was refused, and of nobody else', async () => {
    const node = await nodeForTest({
      authenticator: {
        authenticate: ({ username = '' }) =>
          username === 'eve' ? { refused: 0x87, reason: 'not today' } : { tenant: username, name: 'ann' },
      },
      apiKey: KEY,
    });
    await client(node, { clientId: 'a', username: 'acme' });
    await expect(client(node, { clientId: 'b', username: 'eve' })).rejects.toThrow();
    const of = (tenant: string) =>
      dataOf(node, '/client_events', { authorization: `Bearer ${KEY}`, 'apus-tenant': tenant });
    expect(await of('acme')).toMatchObject([{ clientid: 'a', event: 'connected' }]);
    expect(await of('default')).toMatchObject([
      { clientid: 'b', event: 'refused', reason: 'not today', reason_code: 0x87 },
    ]);
    expect(await of('other')).toEqual([]);
  });
});

describe('a trace', () => {
  test('has what clients publish and subscribe to, while it runs', async () => {
    const node = await nodeForTest();
    const ann = await client(node, { clientId: 'ann' });
    await ann.publishAsync('before', 'x', { qos: 1 });
    expect((await startTrace(node, { type: 'clientid', value: 'ann' })).body).toMatchObject({
      ...{ name: 'one', type: 'clientid', value: 'ann', status: 'running', seconds: 60 },
    });
    await ann.subscribeAsync('a/#');
    await ann.publishAsync('a/\u001b[2J', 'x', { qos: 1 });
    const log = await call(node.httpUrl, '/trace/one/log');
    expect(log.body).toMatchObject({
      lines: [
        { event: 'subscribed', level: 'debug', node: 'apus', fields: { topicFilters: ['a/#'] } },
        { event: 'publish', fields: { topic: 'a/\u001b[2J', clientId: 'ann' } },
      ],
      left_out: 0,
    });
    const { position } = log.body as { readonly position: string };
    const next = `/trace/one/log?position=${encodeURIComponent(position)}`;
    expect((await call(node.httpUrl, next)).body).toMatchObject({ lines: [] });
    expect((await call(node.httpUrl, '/trace/one', 'DELETE')).status).toBe(204);
    expect((await call(node.httpUrl, '/trace/one/log')).status).toBe(404);
    expect((await call(node.httpUrl, '/trace/one', 'DELETE')).status).toBe(404);
  });

  test.each([
    [{ type: 'topic', value: 'a/#/b' }],
    [{ type: 'ip_address', value: '127.0.0.1:80' }],
    [{ type: 'everything', value: 'a' }],
    [{ type: 'topic', value: '' }],
    [{ type: 'topic', value: '#', seconds: 61 }],
    [{ type: 'topic', value: '#', seconds: 0 }],
    [{ type: 'topic', value: '#', name: '../../etc/passwd' }],
    [{ type: 'topic', value: '#', name: 'x'.repeat(33) }],
    [{ type: 'topic', value: '#', more: true }],
  ])('that is wrong is refused: %j', async (trace) => {
    const node = await nodeForTest();
    expect(await startTrace(node, trace)).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
    expect(await dataOf(node, '/trace')).toEqual([]);
  });

  test('is refused beside five others', async () => {
    const node = await nodeForTest();
    const statuses = [];
    for (let index = 0; index < 6; index += 1)
      statuses.push((await startTrace(node, { name: `t${index}`, type: 'topic', value: '#' })).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 400]);
  });
});

describe('figures, alarms and slow clients', () => {
  test('come from counts that stand there anyway, twice a minute', async () => {
    const clock = new FakeScheduler();
    const node = await startNode({ port: 0, logLevel: 'silent', clock });
    onTestFinished(async () => {
      const stopped = node.stop();
      clock.advance(60_000);
      await stopped;
    });
    const ann = await client(node, { clientId: 'ann', keepalive: 0 });
    await ann.publishAsync('a', 'x', { qos: 1 });
    clock.advance(30_000);
    const samples = (await call(node.httpUrl, '/monitor?latest=60')).body;
    expect(samples).toMatchObject([
      { live_connections: 1, received: 1, connects: 1, time_stamp: clock.now() },
    ]);
    expect((await call(node.httpUrl, '/monitor?latest=0')).status).toBe(400);
    expect((await call(node.httpUrl, '/monitor?latest=86401')).status).toBe(400);
    expect(await dataOf(node, '/alarms')).toEqual([]);
    expect((await call(node.httpUrl, '/alarms', 'DELETE')).status).toBe(204);
    expect((await call(node.httpUrl, '/alarms?activated=perhaps')).status).toBe(400);
  });

  test('a client whose queue is full is slow, and is among those that miss most', async () => {
    const node = await nodeForTest({ queueLengthMax: 1, maximumPacketSize: 1_000 });
    const slow = await client(node, {
      ...{ clientId: 'slow', clean: false, properties: { sessionExpiryInterval: 300 } },
    });
    await slow.subscribeAsync('s/#', { qos: 1 });
    await slow.endAsync();
    const ann = await client(node, { clientId: 'ann' });
    for (const topic of ['s/1', 's/2', 's/3']) await ann.publishAsync(topic, 'x', { qos: 1 });
    expect(await dataOf(node, '/slow_subscriptions')).toMatchObject([
      { node: 'apus', clientid: 'slow', topic: 's/3', connected: false, mqueue_len: 1, inflight_cnt: 0 },
    ]);
    expect(await dataOf(node, '/dropping_clients')).toMatchObject([
      { clientid: 'slow', dropped: 2, 'dropped.queue_full': 2, 'dropped.qos0_msg': 0 },
    ]);
    const other = { 'apus-tenant': 'acme' };
    expect(await dataOf(node, '/slow_subscriptions', other)).toEqual([]);
    expect(await dataOf(node, '/dropping_clients', other)).toEqual([]);
  });
});

test('[SEC-WAY-5] the key of a viewer opens all that looks, and nothing that changes', async () => {
  const node = await nodeForTest({ apiKey: KEY, apiViewerKey: VIEWER });
  const asViewer = { authorization: `Bearer ${VIEWER}` };
  for (const path of [
    '/clients',
    '/client_events',
    '/alarms',
    '/monitor',
    '/trace',
    '/mqtt/retainer/messages',
  ])
    expect((await call(node.httpUrl, path, 'GET', asViewer)).status, path).toBe(200);
  const changes = [
    ...(['POST /trace', 'POST /publish', 'POST /banned', 'POST /users', 'PUT /users/a'] as const),
    ...(['DELETE /clients/a', 'DELETE /alarms', 'DELETE /banned', 'DELETE /users/a'] as const),
    ...(['DELETE /mqtt/retainer/message/a', 'DELETE /trace/a', 'POST /tenants'] as const),
  ];
  for (const change of changes) {
    const [method = '', path = ''] = change.split(' ');
    const answer = await call(node.httpUrl, path, method, asViewer, {});
    expect(answer, change).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
  }
  const wrong = { authorization: `Bearer ${VIEWER}x` };
  expect((await call(node.httpUrl, '/clients', 'GET', wrong)).status).toBe(401);
  await expect(startNode({ port: 0, apiViewerKey: VIEWER })).rejects.toThrow('--api-key-file');
  await expect(startNode({ port: 0, apiKey: KEY, apiViewerKey: KEY })).rejects.toThrow('another key');
  await expect(startNode({ port: 0, apiKey: KEY, apiViewerKey: 'short' })).rejects.toThrow('needs 22');
});

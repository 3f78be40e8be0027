import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PATIENCE_MS } from '../../../test/support/patience.ts';
import { RawClient } from '../../../test/support/raw-client.ts';
import { TextClient } from '../../../test/support/text-client.ts';
import { StartError, startNode } from '../src/index.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';
import { nodeForTest } from './support/nodes.ts';

const KEY = 'a-key-of-more-than-22-characters';
const PATIENT = { timeout: PATIENCE_MS };

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function call(
  httpUrl: string,
  path: string,
  method = 'GET',
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(new URL(`/api/v5${path}`, httpUrl), { method, headers });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

/** `fetch` does not let its caller choose the Host. */
function statusWithHost(port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { port, host: '127.0.0.1', path: '/api/v5/stats', headers: { host } },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

describe('who may ask', () => {
  test('a program of this machine, while anybody of this machine may connect', async () => {
    const node = await nodeForTest();
    expect((await call(node.httpUrl, '/stats')).status).toBe(200);
    expect((await call(node.httpUrl, '/stats', 'GET', { origin: node.httpUrl })).status).toBe(200);
  });

  test('[SEC-ORIGIN-2] no page of another site, nor one that has pointed its own name here', async () => {
    const node = await nodeForTest({ allowedOrigins: 'any' });
    const { status, body } = await call(node.httpUrl, '/stats', 'GET', {
      origin: 'https://elsewhere.example',
    });
    expect(status).toBe(403);
    expect(body).toMatchObject({ code: 'NOT_LOCAL' });
    expect(await statusWithHost(node.port, `rebound.example:${node.port}`)).toBe(403);
    expect(await statusWithHost(node.port, `localhost:${node.port}`)).toBe(200);
    expect(await statusWithHost(node.port, `[::1]:${node.port}`)).toBe(200);
  });

  test.each([
    ['other machines can connect', { host: '0.0.0.0', allowAnonymous: true }],
    [
      'clients have to show who they are',
      { authenticator: { authenticate: () => ({ tenant: 'default', name: 'a' }) } },
    ],
  ])('nobody without a key where %s', async (_why, options) => {
    const node = await nodeForTest(options);
    const { status, body } = await call(`http://127.0.0.1:${node.port}`, '/stats');
    expect(status).toBe(403);
    expect(body).toMatchObject({ code: 'API_CLOSED', message: expect.stringContaining('--api-key-file') });
  });

  test('with a key whoever shows it, as a bearer token or as EMQX’s clients do, and nobody else', async () => {
    const node = await nodeForTest({ host: '0.0.0.0', allowAnonymous: true, apiKey: KEY });
    const url = `http://127.0.0.1:${node.port}`;
    const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
    const statusFor = async (authorization: string): Promise<number> =>
      (await call(url, '/stats', 'GET', { authorization })).status;
    expect(await statusFor(`Bearer ${KEY}`)).toBe(200);
    expect(await statusFor(basic(`name:${KEY}`))).toBe(200);
    expect(await statusFor(`Bearer ${KEY}x`)).toBe(401);
    expect(await statusFor(basic(`${KEY}:wrong`))).toBe(401);
    expect((await call(url, '/stats')).body).toMatchObject({ code: 'BAD_API_KEY_OR_SECRET' });
  });

  test('a key that could be guessed is refused at the start', async () => {
    await expect(startNode({ port: 0, apiKey: 'short' })).rejects.toThrow(StartError);
  });

  test.each([
    [{}, 'local'],
    [{ apiKey: KEY }, 'key'],
    [{ host: '0.0.0.0', allowAnonymous: true }, 'closed'],
  ])('the page is told: with %j it is %s', async (options, access) => {
    const node = await nodeForTest(options);
    const response = await fetch(`http://127.0.0.1:${node.port}/config.json`);
    expect(await response.json()).toMatchObject({ api: { path: '/api/v5', access } });
  });
});

describe('what is asked', () => {
  test.each([
    ['/nothing', 'GET', 404, 'NOT_FOUND'],
    ['/stats', 'DELETE', 405, 'METHOD_NOT_ALLOWED'],
    ['/clients?page=0', 'GET', 400, 'BAD_REQUEST'],
    ['/clients?limit=1001', 'GET', 400, 'BAD_REQUEST'],
    ['/clients?conn_state=asleep', 'GET', 400, 'BAD_REQUEST'],
    ['/clients/%ff', 'GET', 400, 'BAD_REQUEST'],
    ['/clients/nobody', 'GET', 404, 'CLIENTID_NOT_FOUND'],
    ['/clients/nobody', 'DELETE', 404, 'CLIENTID_NOT_FOUND'],
    ['/clients/nobody/subscriptions', 'GET', 404, 'CLIENTID_NOT_FOUND'],
    ['/mqtt/retainer/messages?topic=a/%23/b', 'GET', 400, 'BAD_REQUEST'],
    ['/mqtt/retainer/message/none', 'GET', 404, 'NOT_FOUND'],
    ['/mqtt/retainer/message/%23', 'DELETE', 404, 'NOT_FOUND'],
  ])('%s by %s is answered %i %s with a sentence', async (path, method, status, code) => {
    const node = await nodeForTest();
    const answer = await call(node.httpUrl, path, method);
    expect(answer).toMatchObject({ status, body: { code, message: expect.stringMatching(/\w \w/) } });
  });
});

describe('clients', () => {
  test('of both doors, with what is known of each', async () => {
    const clock = new FakeScheduler();
    const node = await nodeForTest({ gatewayPort: 0, clock });
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

  test('are described one by one with their window, traffic, identity and quotas', async () => {
    const node = await nodeForTest({ quotas: { identity: { connectionsMax: 7 } } });
    const { client } = await RawClient.connect(node.url, { clientId: 'looked at' });
    client.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'a', qos: 1 }] });
    await client.expect('suback');
    // It never acknowledges what it is sent.
    client.send({
      cmd: 'publish',
      topic: 'a',
      payload: 'x',
      qos: 1,
      messageId: 2,
      retain: false,
      dup: false,
    });
    await client.expect('publish');
    const { body } = await call(node.httpUrl, '/clients/looked%20at');
    expect(body).toMatchObject({
      inflight_cnt: 1,
      recv_msg: 1,
      send_msg: 1,
      identity: { source: null, rules: null, expires_at: null },
      quotas: { connectionsMax: 7 },
    });
    expect(body).toHaveProperty('recv_oct', expect.any(Number));
    expect(body).toHaveProperty('send_oct', expect.any(Number));
  });

  test('are disconnected with 0x98, and keep their session', async () => {
    const node = await nodeForTest();
    const { client } = await RawClient.connect(node.url, {
      clientId: 'to/be ended',
      properties: { sessionExpiryInterval: 60 },
    });
    const path = `/clients/${encodeURIComponent('to/be ended')}`;
    expect(await call(node.httpUrl, path, 'DELETE')).toEqual({ status: 204, body: undefined });
    expect((await client.expect('disconnect')).reasonCode).toBe(0x98);
    await client.expectClose();
    await expect
      .poll(async () => (await call(node.httpUrl, path)).body, PATIENT)
      .toMatchObject({ connected: false });
    expect((await call(node.httpUrl, path, 'DELETE')).status).toBe(404);
  });

  test('of the gateway door are disconnected too', async () => {
    const node = await nodeForTest({ gatewayPort: 0 });
    const { client } = await TextClient.connect(node.gateway?.url ?? '', { clientId: 'at-gateway' });
    expect((await call(node.httpUrl, '/clients/at-gateway', 'DELETE')).status).toBe(204);
    await client.expectClose();
    await expect
      .poll(async () => (await call(node.httpUrl, '/clients/at-gateway')).status, PATIENT)
      .toBe(404);
  });
});

describe('figures, subscriptions and retained messages', () => {
  test.each(['memory', 'disk'])('in %s: counted, listed, read and removed', async (kind) => {
    const dataDirectory = kind === 'disk' ? mkdtempSync(join(tmpdir(), 'apus-api-')) : undefined;
    const node = await nodeForTest({ dataDirectory });
    if (dataDirectory !== undefined)
      onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }));
    const { client } = await RawClient.connect(node.url, { clientId: 'one' });
    const subscriptions = ['r/#', '$share/g/s/+'].map((topic) => ({
      topic,
      qos: 0,
      nl: false,
      rap: false,
      rh: 0,
    }));
    client.send({ cmd: 'subscribe', messageId: 1, subscriptions });
    await client.expect('suback');
    const publish = { cmd: 'publish', qos: 1, retain: true, dup: false };
    for (const [index, topic] of ['r/1', 'r/2', 'other'].entries()) {
      client.send({ ...publish, topic, messageId: index + 10, payload: Buffer.from([0, 255, index]) });
    }
    for (const cmd of ['publish', 'puback', 'publish', 'puback', 'puback']) await client.expect(cmd);
    expect((await call(node.httpUrl, '/stats')).body).toMatchObject([
      {
        'live_connections.count': 1,
        'sessions.count': 1,
        'subscriptions.count': 2,
        'subscriptions.shared.count': 1,
        'retained.count': 3,
      },
    ]);
    expect((await call(node.httpUrl, '/metrics')).body).toMatchObject([
      { 'messages.received': 3, 'messages.qos1.received': 3, 'messages.sent': 2, 'messages.qos0.sent': 2 },
    ]);
    expect((await call(node.httpUrl, '/subscriptions?match_topic=s/x')).body).toMatchObject({
      data: [{ clientid: 'one', topic: '$share/g/s/+' }],
    });
    expect((await call(node.httpUrl, '/topics')).body).toMatchObject({
      data: [{ topic: 'r/#' }, { topic: '$share/g/s/+' }],
    });
    expect(
      (await call(node.httpUrl, '/mqtt/retainer/messages?topic=r/%23&limit=1&page=2')).body,
    ).toMatchObject({
      meta: { count: 2 },
      data: [{ topic: 'r/2', payload_bytes: 3 }],
    });
    const path = `/mqtt/retainer/message/${encodeURIComponent('r/2')}`;
    expect((await call(node.httpUrl, path)).body).toMatchObject({
      payload: Buffer.from([0, 255, 1]).toString('base64'),
    });
    expect((await call(node.httpUrl, path, 'DELETE')).status).toBe(204);
    expect((await call(node.httpUrl, path)).status).toBe(404);
    expect((await call(node.httpUrl, '/stats')).body).toMatchObject([{ 'retained.count': 2 }]);
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { StartError, startNode } from '../src/index.ts';
import { call } from './support/call-api.ts';
import { nodeForTest } from './support/nodes.ts';

const KEY = 'a-key-of-more-than-22-characters';

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

describe('access to the API', () => {
  test('a program of this machine, while all clients of this machine may connect', async () => {
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
  ])('no caller without a key where %s', async (_why, options) => {
    const node = await nodeForTest(options);
    const { status, body } = await call(`http://127.0.0.1:${node.port}`, '/stats');
    expect(status).toBe(403);
    expect(body).toMatchObject({ code: 'API_CLOSED', message: expect.stringContaining('--api-key-file') });
  });

  test('with a key, only callers that show it, as a bearer token or as EMQX’s clients do', async () => {
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
  ])('config.json tells the page the access: with %j it is %s', async (options, access) => {
    const node = await nodeForTest(options);
    const response = await fetch(`http://127.0.0.1:${node.port}/config.json`);
    expect(await response.json()).toMatchObject({ api: { path: '/api/v5', access } });
  });
});

describe('clients', () => {
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

test('a parameter may have a question mark, and it is all of the parameter', async () => {
  const { url, httpUrl } = await nodeForTest();
  await RawClient.connect(url, { clientId: 'who' });
  await RawClient.connect(url, { clientId: 'what?x' });
  expect((await call(httpUrl, '/clients?clientid=who?x')).body).toMatchObject({ data: [] });
  expect((await call(httpUrl, '/clients?clientid=what?x')).body).toMatchObject({ data: [{}] });
});

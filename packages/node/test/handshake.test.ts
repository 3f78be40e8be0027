import { describe, expect, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import type { NodeOptions } from '../src/index.ts';
import { nodeForTest } from './support/nodes.ts';
import { type UpgradeAnswer, upgrade } from './support/upgrade.ts';

async function handshake(headers: Record<string, string>, options: NodeOptions = {}): Promise<UpgradeAnswer> {
  return upgrade((await nodeForTest(options)).url, headers);
}

describe('the subprotocol', () => {
  test('"mqttv3.1" is accepted from clients of MQTT 3.1', async () => {
    const answer = await handshake({ 'Sec-WebSocket-Protocol': 'mqttv3.1' });
    expect(answer).toMatchObject({ status: 101, headers: { 'sec-websocket-protocol': 'mqttv3.1' } });
  });

  test.each(['', 'chat', 'MQTT', 'mqtt5'])(
    '"%s" is refused with a reason [MQTT-6.0.0-3]',
    async (offered) => {
      const answer = await handshake({ 'Sec-WebSocket-Protocol': offered });
      expect(answer).toMatchObject({ status: 400, body: expect.stringContaining('subprotocol "mqtt"') });
    },
  );

  test('compression is not negotiated', async () => {
    const answer = await handshake({ 'Sec-WebSocket-Extensions': 'permessage-deflate' });
    expect(answer.status).toBe(101);
    expect(answer.headers['sec-websocket-extensions']).toBeUndefined();
  });
});

describe('the path', () => {
  test.each(['/', '/mqtt/', '/ws', '/mqttx'])('%s is not found', async (path) => {
    const node = await nodeForTest();
    const answer = await upgrade(new URL(path, node.url).href);
    expect(answer).toMatchObject({ status: 404, body: expect.stringContaining('/mqtt') });
  });

  test('a query does not matter', async () => {
    const node = await nodeForTest();
    expect(await upgrade(`${node.url}?token=1`)).toMatchObject({ status: 101 });
  });
});

describe('web pages', () => {
  test.each([
    'https://evil.example',
    'null',
    'http://127.0.0.1.evil.example',
    'http://localhost.evil.example',
  ])('of %s may not, and are told how they could', async (origin) => {
    const answer = await handshake({ Origin: origin });
    expect(answer).toMatchObject({
      status: 403,
      body: expect.stringContaining(`--allow-origin ${origin}`),
    });
  });

  test('of anywhere may connect where every client shows who it is', async () => {
    const authenticator = { authenticate: () => ({ tenant: 'default', name: 'a' }) };
    const answer = await handshake({ Origin: 'https://app.example' }, { authenticator });
    expect(answer.status).toBe(101);
  });
});

test('a connection over the limit is refused with 503, and accepted when another has gone', async () => {
  const node = await nodeForTest({ connectionsMax: 1 });
  const { client } = await RawClient.connect(node.url);
  expect(await upgrade(node.url)).toMatchObject({
    status: 503,
    body: expect.stringContaining('1 connections'),
  });
  client.sendText('no MQTT');
  await client.expectClose();
  expect(await upgrade(node.url)).toMatchObject({ status: 101 });
});

test('headers over the limit are refused with 431', async () => {
  const answer = await handshake({ Cookie: 'c'.repeat(2048) }, { handshakeBytesMax: 1024 });
  expect(answer.status).toBe(431);
});

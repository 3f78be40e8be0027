import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { StartError, startNode } from '../src/index.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';
import { nodeForTest } from './support/nodes.ts';

test('/healthz says how many clients there are and for how long it has run', async () => {
  const clock = new FakeScheduler();
  const node = await nodeForTest({ clock });
  await RawClient.connect(node.url);
  clock.advance(90_000);
  const response = await fetch(new URL('/healthz', node.httpUrl));
  expect(response.status).toBe(200);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await response.json()).toEqual({ status: 'ok', connections: 1, uptimeSeconds: 90 });
});

test('every answer has a content security policy, and forbids to guess its type', async () => {
  const node = await nodeForTest();
  for (const path of ['/', '/healthz', '/nothing']) {
    const { headers } = await fetch(new URL(path, node.httpUrl));
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  }
});

test.each(['/nothing', '/../package.json', '/%2e%2e/package.json', '/page/'])(
  '%s is not found',
  async (path) => {
    const node = await nodeForTest();
    expect((await fetch(new URL(path, node.httpUrl))).status).toBe(404);
  },
);

test('/mqtt without an upgrade says what it is', async () => {
  const node = await nodeForTest();
  const response = await fetch(new URL('/mqtt', node.httpUrl));
  expect(response.status).toBe(426);
  expect(await response.text()).toContain('MQTT over WebSocket');
});

test('only GET and HEAD are answered', async () => {
  const node = await nodeForTest();
  const response = await fetch(node.httpUrl, { method: 'POST', body: 'x' });
  expect(response.status).toBe(405);
});

test('a port in use is reported in a sentence', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const started = startNode({ port });
  await expect(started).rejects.toThrow(StartError);
  await expect(started).rejects.toThrow(`Port ${port} at 127.0.0.1 is in use`);
});

test.each(['0.0.0.0', '::', '192.0.2.1', 'example.com'])(
  'at %s all clients could connect, so it does not start without an authentication option',
  async (host) => {
    await expect(startNode({ host, port: 0 })).rejects.toThrow(/--users FILE.*--allow-anonymous/);
  },
);

test('at every address of the machine it starts when anonymous clients are allowed', async () => {
  const node = await nodeForTest({ host: '0.0.0.0', allowAnonymous: true });
  const { connack } = await RawClient.connect(`ws://127.0.0.1:${node.port}/mqtt`);
  expect(connack.reasonCode).toBe(0);
});

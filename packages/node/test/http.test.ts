import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { brotliCompressSync } from 'node:zlib';
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

test.each([
  ['HTTP/1.1 without a Host', 'GET /healthz HTTP/1.1\r\n', 400],
  ['HTTP/1.1 with two', 'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n', 400],
  ['HTTP/1.1 with one that is no host', 'GET /healthz HTTP/1.1\r\nHost: a/b\r\n', 400],
  ['HTTP/1.0 without a Host', 'GET /healthz HTTP/1.0\r\n', 200],
  ['a URL', 'GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\n', 200],
  ['a URL without a path', 'GET http://localhost HTTP/1.1\r\nHost: localhost\r\n', 200],
  // The host of the URL counts, and the API answers this machine alone.
  ['the API by a foreign name', 'GET http://evil.example/api/v5/stats HTTP/1.1\r\nHost: localhost\r\n', 403],
])('a request of %s is answered with its status', async (_, head, status) => {
  const { port } = await nodeForTest();
  const socket = connect(port, '127.0.0.1');
  socket.end(`${head}Connection: close\r\n\r\n`);
  expect(await text(socket)).toContain(`HTTP/1.1 ${status} `);
});

test.each([
  ['gzip, deflate, br', 'br'],
  ['br;q=0, gzip', 'gzip'],
  ['gzip;q=0', null],
])('a browser that takes %s gets a file of the page in the encoding %s', async (accepted, encoding) => {
  const pageDirectory = await mkdtemp(join(tmpdir(), 'apus-page-'));
  onTestFinished(() => rm(pageDirectory, { recursive: true }));
  const page = '<p>Apus</p>'.repeat(1_000);
  await writeFile(join(pageDirectory, 'index.html'), page);
  await writeFile(join(pageDirectory, 'index.html.br'), brotliCompressSync(page));
  const { httpUrl } = await nodeForTest({ pageDirectory });
  const answer = await fetch(httpUrl, { headers: { 'accept-encoding': accepted } });
  expect(answer.headers.get('content-encoding')).toBe(encoding);
  expect(answer.headers.get('vary')).toContain('Accept-Encoding');
  expect(await answer.text()).toBe(page);
  expect((await fetch(new URL('index.html.br', httpUrl))).status).toBe(404);
});

test('a file of the page that has gone costs its request alone', async () => {
  const pageDirectory = await mkdtemp(join(tmpdir(), 'apus-page-'));
  onTestFinished(() => rm(pageDirectory, { recursive: true }));
  await writeFile(join(pageDirectory, 'index.html'), '');
  const node = await nodeForTest({ pageDirectory });
  await rm(join(pageDirectory, 'index.html'));
  expect((await fetch(node.httpUrl)).status).toBe(500);
  expect((await fetch(new URL('/healthz', node.httpUrl))).status).toBe(200);
});

import { once } from 'node:events';
import { connect as connectTo, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect, TextClient } from '../../../test/support/text-client.ts';
import { FakeScheduler } from '../../node/test/support/fake-scheduler.ts';
import { upgrade } from '../../node/test/support/upgrade.ts';
import type { DoorsOptions } from '../src/index.ts';
import { doorsForTest } from './support/doors.ts';

/** Node.js itself checks for slow requests every minute, in real time. */
const CUT_WITHIN_MS = 20_000;

const HEADERS = { 'Sec-WebSocket-Protocol': 'mqtt-text-v1' };

async function gatewayUrl(options: DoorsOptions = {}): Promise<string> {
  const node = await doorsForTest({ gatewayPort: 0, ...options });
  return node.gateway?.url ?? '';
}

/** A socket that has sent the beginning of a handshake, with all bytes that it receives until its end. */
function halfHandshake(url: string, text: string): { socket: Socket; answer: Promise<string> } {
  const socket = connectTo(Number(new URL(url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let answer = '';
  socket.on('data', (bytes) => {
    answer += String(bytes);
  });
  socket.write(text);
  return { socket, answer: once(socket, 'close').then(() => answer) };
}

describe('the gateway door of a node', () => {
  test.each([
    ['begins', ''],
    ['ends its headers', 'GET /mqtt HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\n'],
    ['ends its body', 'POST /mqtt/@connections/x HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc'],
  ])(
    'cuts a socket whose request never %s',
    async (_what, text) => {
      const url = await gatewayUrl({ handshakeTimeoutSeconds: 1 });
      expect(await halfHandshake(url, text).answer).toContain('408 Request Timeout');
    },
    CUT_WITHIN_MS,
  );

  test(
    '[SEC-MEMORY-6] cuts a handshake that comes byte by byte, however steadily',
    async () => {
      const url = await gatewayUrl({ handshakeTimeoutSeconds: 1 });
      const { socket, answer } = halfHandshake(url, 'GET /mqtt HTTP/1.1\r\nX-Slow: ');
      const drip = setInterval(() => socket.write('x'), 50);
      onTestFinished(() => clearInterval(drip));
      expect(await answer).toContain('408 Request Timeout');
    },
    CUT_WITHIN_MS,
  );

  test('refuses a handshake whose headers exceed the limit with 431', async () => {
    const url = await gatewayUrl({ handshakeBytesMax: 1024 });
    const answer = await upgrade(url, { ...HEADERS, Cookie: 'c'.repeat(2048) });
    expect(answer.status).toBe(431);
  });

  test('[SEC-MEMORY-6] closes a connection that never sends CONNECT, and no other', async () => {
    const clock = new FakeScheduler();
    const url = await gatewayUrl({ clock, connectTimeoutSeconds: 7 });
    const silent = await TextClient.open(url);
    const { client } = await TextClient.connect(url);
    clock.advance(7_000);
    expect(await silent.expectClose()).toBe(1000);
    clock.advance(60_000);
    await client.exchange({ cmd: 'pingreq' });
  });

  test('closes a connection that authenticates endlessly', async () => {
    const clock = new FakeScheduler();
    const authenticator = { authenticate: () => new Promise<never>(() => {}) };
    const url = await gatewayUrl({ clock, authenticator, connectTimeoutSeconds: 7 });
    const client = await TextClient.open(url);
    client.send([connect()]);
    clock.advance(7_000);
    expect(await client.expectClose()).toBe(1000);
  });

  test('refuses a connection over the limit with 503, and accepts it when another has gone', async () => {
    const node = await doorsForTest({ gatewayPort: 0, connectionsMax: 1 });
    const url = node.gateway?.url ?? '';
    const { client } = await TextClient.connect(url);
    expect(await upgrade(url, HEADERS)).toMatchObject({ status: 503 });
    client.close();
    await client.expectClose();
    await node.gateway?.emulator.quiet();
    expect(await upgrade(url, HEADERS)).toMatchObject({ status: 101 });
  });
});

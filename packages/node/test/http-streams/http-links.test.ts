import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { readIdentity } from '@apus/identity';
import { SignJWT } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RawClient } from '../../../../test/support/raw-client.ts';
import {
  POST_BYTES_MAX,
  RESPONSE_MS_MAX,
  SILENCE_MS_MAX,
  UNCONFIRMED_BYTES_MAX,
} from '../../src/http-streams/http-link-limits.ts';
import type { NodeOptions } from '../../src/index.ts';
import { FakeScheduler } from '../support/fake-scheduler.ts';
import { answer, ask, CONNECT, encoded, openLink, up } from '../support/http-link.ts';
import { nodeForTest } from '../support/nodes.ts';

const PING = encoded({ cmd: 'pingreq' });
const PINGRESP = 'd000';
const UNKNOWN = 'A'.repeat(22);

/** Links that a test leaves behind keep the node from its end no longer than the test waits. */
async function start(options: NodeOptions & { clock?: FakeScheduler } = {}) {
  const node = await nodeForTest({ shutdownTimeoutSeconds: 0, ...options });
  onTestFinished(() => options.clock?.advance(SILENCE_MS_MAX));
  return node;
}

const hex = (text: string) => Buffer.from(text, 'latin1').toString('hex');

/** A link whose client is connected, and how many bytes it has sent and got. */
async function connectedLink(url: string, connect: object = {}) {
  const key = await openLink(url);
  const bytes = encoded({ ...CONNECT, ...connect });
  await answer(url, up(key, bytes, 0));
  // The first byte is the greeting.
  const got = (await answer(url, `poll ${key} 0\n`)).text.length - 1;
  return { key, sent: bytes.length, got };
}

describe('a request [SEC-LINK-1]', () => {
  test.each([
    ['up', `up ${UNKNOWN} 0 0 0\n`],
    ['down', `down ${UNKNOWN} 0\n`],
    ['poll', `poll ${UNKNOWN} 0\n`],
    ['end', `end ${UNKNOWN}\n`],
  ])('%s with a guessed key is refused', async (_, line) => {
    const node = await start();
    const { key } = await connectedLink(node.url);
    expect(await answer(node.url, line)).toMatchObject({ status: 404, text: expect.stringMatching('ended') });
    expect((await answer(node.url, up(key, Buffer.alloc(0), 0))).status).toBe(200);
  });

  test.each(['hello\n', '\n', 'open', 'up\n', `up ${UNKNOWN} -1 0 0\n`, 'x'.repeat(100_000)])(
    'that does not begin with a line of ours is refused: %j',
    async (body) => {
      const node = await start();
      expect((await answer(node.url, body)).status).toBe(400);
    },
  );

  test('may be kept, changed and held back by no proxy', async () => {
    const node = await start();
    const { response } = await ask(node.url, 'open\n');
    expect(response.headers).toMatchObject({
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'content-type': 'application/octet-stream',
    });
  });
});

describe('the handshake of a link [SEC-ORIGIN-1]', () => {
  test('asks for the origin, and the page of an allowed one may read the answer', async () => {
    const node = await start({ allowedOrigins: ['https://app.example'] });
    for (const body of ['open\n', `poll ${UNKNOWN} 0\n`])
      expect((await answer(node.url, body, { origin: 'https://evil.example' })).status).toBe(403);
    const { response } = await ask(node.url, 'open\n', { origin: 'https://app.example' });
    expect(response.statusCode).toBe(200);
    expect(response.headers['access-control-allow-origin']).toBe('https://app.example');
  });

  test('is refused to strangers where clients need no credentials [SEC-LOCAL-1]', async () => {
    const node = await start();
    expect((await answer(node.url, 'open\n', { 'x-forwarded-for': '192.0.2.1' })).status).toBe(403);
  });

  test('checks a token, and refuses a bad one as a WebSocket is refused', async () => {
    const secret = 'a secret of at least thirty-two bytes';
    const node = await start({
      identity: readIdentity({ authenticators: [{ jwt: { secret } }] }, 'identity'),
    });
    expect((await answer(`${node.url}?token=bad`, 'open\n')).status).toBe(403);
    const authorization = 'Bearer bad';
    expect((await answer(node.url, 'open\n', { authorization })).status).toBe(403);
    expect((await answer(`${node.url}?token=a&token=b%`, 'open\n')).status).toBe(403);
    const token = await new SignJWT({ sub: 'ann', publish: ['#'], subscribe: ['#'] })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode(secret));
    const key = (await answer(`${node.url}?token=${token}`, 'open\n')).text.trim();
    await answer(node.url, up(key, encoded(CONNECT), 0));
    // CONNACK with 0x00.
    expect(hex((await answer(node.url, `poll ${key} 0\n`)).text)).toMatch(/^2e20..0000/);
  });

  test('takes a place as a WebSocket does', async () => {
    const node = await start({ connectionsMax: 1 });
    const { client } = await RawClient.connect(node.url);
    expect(await answer(node.url, 'open\n')).toMatchObject({
      status: 503,
      text: expect.stringContaining('1 connections'),
    });
    client.close();
  });

  test('a link that never says CONNECT is ended, as a WebSocket', async () => {
    const clock = new FakeScheduler();
    const node = await start({ clock, connectTimeoutSeconds: 7 });
    const key = await openLink(node.url);
    const response = await ask(node.url, `down ${key} 0\n`);
    clock.advance(7_500);
    expect(await response.ended).toBe('.');
    expect((await answer(node.url, `down ${key} 0\n`)).status).toBe(404);
  });
});

describe('bytes of the client [SEC-LINK-1]', () => {
  test('that are sent again are taken once', async () => {
    const node = await start();
    const { key, sent, got } = await connectedLink(node.url);
    for (const _ of [1, 2, 3])
      expect((await answer(node.url, up(key, PING, sent, got))).text).toMatch(`${sent + PING.length} `);
    const overlapping = up(key, Buffer.concat([PING, PING]), sent, got);
    expect((await answer(node.url, overlapping)).text).toMatch(`${sent + 2 * PING.length} `);
    const { text } = await answer(node.url, `poll ${key} ${got}\n`);
    expect(hex(text.slice(1))).toBe(`${PINGRESP}${PINGRESP}`);
  });

  test('behind a gap are refused', async () => {
    const node = await start();
    const { key, sent } = await connectedLink(node.url);
    expect((await answer(node.url, up(key, PING, sent + 1))).status).toBe(409);
  });

  test('beyond the limit of a POST are refused, and fewer than it says, too', async () => {
    const node = await start();
    const { key, sent } = await connectedLink(node.url);
    expect((await answer(node.url, up(key, Buffer.alloc(POST_BYTES_MAX + 1), sent))).status).toBe(413);
    expect((await answer(node.url, `up ${key} 0 ${sent} 5\nabc`)).status).toBe(400);
  });

  test('wait in no second POST: it takes the place of the first, whose bytes it may repeat', async () => {
    const node = await start();
    const { key, sent, got } = await connectedLink(node.url);
    const { request } = await import('node:http');
    const slow = request(node.url.replace('ws', 'http'), { method: 'POST', agent: false });
    const isCut = new Promise((resolve) => slow.once('error', resolve));
    slow.write(`up ${key} ${got} ${sent} ${PING.length}\n`);
    slow.write(PING.subarray(0, 1));
    await expect
      .poll(async () => (await answer(node.url, up(key, PING.subarray(0, 1), sent, got))).text)
      .toMatch(`${sent + 1} `);
    await isCut;
    expect((await answer(node.url, up(key, PING, sent, got))).status).toBe(200);
    expect(hex((await answer(node.url, `poll ${key} ${got}\n`)).text.slice(1))).toBe(PINGRESP);
  });

  test('end the link with `end`, and the will is published', async () => {
    const node = await start();
    const { client: watcher } = await RawClient.connect(node.url);
    watcher.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'gone', qos: 0 }] });
    await watcher.expect('suback');
    const will = { topic: 'gone', payload: Buffer.from('x'), qos: 0, retain: false };
    const { key } = await connectedLink(node.url, { will });
    expect((await answer(node.url, `end ${key}\n`)).status).toBe(200);
    expect((await watcher.expect('publish')).topic).toBe('gone');
    expect((await answer(node.url, `poll ${key} 0\n`)).status).toBe(404);
    watcher.close();
  });
});

describe('bytes of the server [SEC-LINK-1]', () => {
  test('that a cut response has lost come again, from where the client says', async () => {
    const node = await start();
    const { key, sent, got } = await connectedLink(node.url);
    await answer(node.url, up(key, Buffer.concat([PING, PING]), sent, got));
    const both = 'd000d000';
    for (const lost of [0, 1, 3])
      expect(hex((await answer(node.url, `poll ${key} ${got + lost}\n`)).text.slice(1))).toBe(
        both.slice(2 * lost),
      );
  });

  test('that it has not sent cannot be confirmed, nor confirmed ones be asked for again', async () => {
    const node = await start();
    const { key, sent, got } = await connectedLink(node.url);
    expect((await answer(node.url, `poll ${key} ${got + 1}\n`)).status).toBe(409);
    expect((await answer(node.url, up(key, PING, sent, got + 100))).status).toBe(409);
    await answer(node.url, up(key, PING, sent, got));
    expect((await answer(node.url, `poll ${key} ${got - 1}\n`)).status).toBe(409);
    expect((await answer(node.url, `poll ${key} ${got}\n`)).status).toBe(200);
  });

  test('leave on one response: a further one ends the first', async () => {
    const node = await start();
    const { key, sent, got } = await connectedLink(node.url);
    const first = await ask(node.url, `down ${key} ${got}\n`);
    await expect.poll(() => first.bytes().length).toBe(1);
    const second = await ask(node.url, `down ${key} ${got}\n`);
    expect(await first.ended).toBe('.');
    await answer(node.url, up(key, PING, sent, got));
    await expect.poll(() => second.bytes().toString('hex')).toBe(`2e${PINGRESP}`);
    second.request.destroy();
  });

  test('that are not confirmed are bounded, while their client goes on to read', async () => {
    const node = await start();
    const { key, sent, got } = await connectedLink(node.url);
    const subscribe = encoded({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'a', qos: 0 }] });
    await answer(node.url, up(key, subscribe, sent, got));
    const response = await ask(node.url, `down ${key} ${got}\n`);
    const { client: publisher } = await RawClient.connect(node.url);
    const payload = Buffer.alloc(10_000);
    for (let count = 0; count < 300; count += 1)
      publisher.send({ cmd: 'publish', topic: 'a', qos: 0, payload });
    await publisher.expectNothing();
    await expect.poll(() => response.bytes().length).toBe(UNCONFIRMED_BYTES_MAX + 1);
    // Bytes that the client confirms make room.
    await answer(node.url, up(key, PING, sent + subscribe.length, got + UNCONFIRMED_BYTES_MAX));
    await expect.poll(() => response.bytes().length).toBe(2 * UNCONFIRMED_BYTES_MAX + 1);
    response.request.destroy();
    publisher.close();
  });
});

describe('the life of a link', () => {
  test('its response lasts while its address opens more than its share of half-open requests [SEC-PLACE-1]', async () => {
    const node = await start({ connectionsMax: 20, pendingPerAddressMax: 10 });
    const { key, sent, got } = await connectedLink(node.url);
    const response = await ask(node.url, `down ${key} ${got}\n`);
    await expect.poll(() => response.bytes().length).toBe(1);
    const sockets = Array.from({ length: 100 }, () => connect(Number(new URL(node.url).port), '127.0.0.1'));
    let cut = 0;
    for (const socket of sockets) {
      socket.on('error', () => {});
      socket.once('close', () => {
        cut += 1;
      });
      socket.write(`POST /mqtt HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nup ${key} 0 `);
    }
    await expect.poll(() => cut).toBeGreaterThanOrEqual(90);
    await answer(node.url, up(key, PING, sent, got));
    await expect.poll(() => response.bytes().toString('hex')).toBe(`2e${PINGRESP}`);
    response.request.destroy();
    for (const socket of sockets) socket.destroy();
  });

  test('a long response ends before proxies cut it', async () => {
    const clock = new FakeScheduler();
    const node = await start({ clock });
    const { key, got } = await connectedLink(node.url);
    const response = await ask(node.url, `down ${key} ${got}\n`);
    await expect.poll(() => response.bytes().length).toBe(1);
    clock.advance(RESPONSE_MS_MAX);
    expect(await response.ended).toBe('.');
    expect(response.response.complete).toBe(true);
  });

  test('a link without a response ends, and its keys with it', async () => {
    const clock = new FakeScheduler();
    const node = await start({ clock });
    const { key, got } = await connectedLink(node.url);
    clock.advance(SILENCE_MS_MAX - 1);
    expect((await answer(node.url, up(key, Buffer.alloc(0), 0, got))).status).toBe(200);
    clock.advance(1);
    await setImmediate();
    expect((await answer(node.url, `poll ${key} ${got}\n`)).status).toBe(404);
  });

  test('the server ends it once its client has what was sent last, although a response is cut', async () => {
    const node = await start({ maximumPacketSize: 5_000 });
    const { key, sent, got } = await connectedLink(node.url);
    const response = await ask(node.url, `down ${key} ${got}\n`);
    const large = encoded({ cmd: 'publish', topic: 'a', qos: 0, payload: Buffer.alloc(10_000) });
    await answer(node.url, up(key, large, sent, got));
    const disconnect = await response.ended;
    expect(hex(disconnect)).toMatch(/^2ee0..95/);
    expect(response.response.complete).toBe(true);
    for (const lost of [0, 1])
      expect((await answer(node.url, `down ${key} ${got + lost}\n`)).text.slice(1)).toBe(
        disconnect.slice(1 + lost),
      );
    expect((await answer(node.url, `down ${key} ${got + disconnect.length - 1}\n`)).status).toBe(404);
  });

  test('bytes that came before `end` are handled', async () => {
    const node = await start();
    const { client: watcher } = await RawClient.connect(node.url);
    watcher.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '#', qos: 0 }] });
    await watcher.expect('suback');
    const will = { topic: 'gone', payload: Buffer.from('x'), qos: 0, retain: false };
    const { key, sent, got } = await connectedLink(node.url, { will });
    const last = encoded({ cmd: 'publish', topic: 'last', qos: 0, payload: Buffer.from('x') });
    await answer(node.url, up(key, Buffer.concat([last, encoded({ cmd: 'disconnect' })]), sent, got));
    expect((await answer(node.url, `end ${key}\n`)).status).toBeLessThan(500);
    expect((await watcher.expect('publish')).topic).toBe('last');
    // There is no will after DISCONNECT.
    await watcher.expectNothing();
    watcher.close();
  });

  test('bytes of another protocol end it', async () => {
    const node = await start();
    const key = await openLink(node.url);
    await answer(node.url, up(key, Buffer.from('GET / HTTP/1.1\r\n'), 0));
    expect((await answer(node.url, `poll ${key} 0\n`)).text).toMatch('for MQTT over TCP');
  });
});

import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { readIdentity } from '@apus/identity';
import { encodePacket } from '@apus/mqtt';
import { expect, onTestFinished, test } from 'vitest';
import type { NodeOptions } from '../src/index.ts';
import { frameBytes } from './support/client-frame.ts';
import { HANDSHAKE } from './support/handshake-text.ts';
import { nodeForTest } from './support/nodes.ts';

const CONNECT = frameBytes({
  opcode: 2,
  payload: Buffer.from(
    encodePacket(
      {
        type: 'connect',
        clientId: 'a',
        protocolVersion: 5,
        cleanStart: true,
        keepAliveSeconds: 0,
        properties: {},
      },
      5,
    ),
  ),
});

async function socketTo(options: NodeOptions = {}): Promise<Socket> {
  const { port } = await nodeForTest(options);
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
  });
  await new Promise((resolve) => socket.once('connect', resolve));
  return socket.setNoDelay();
}

/** Waits until so many bytes have come behind the answer of the handshake, and returns them. */
async function bytesBehindAnswer(socket: Socket, count: number): Promise<Buffer> {
  let all = Buffer.alloc(0);
  for (;;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    all = Buffer.concat([all, chunk]);
    const end = all.indexOf('\r\n\r\n');
    if (end >= 0 && all.length >= end + 4 + count) return all.subarray(end + 4);
  }
}

/** First bytes of packets. */
const CONNACK = 0x20;
const PINGREQ = 0xc0;
const PINGRESP = 0xd0;

const SECRET = '0123456789abcdef0123456789abcdef';

/** A token of HS256, good for a minute. */
function tokenOf(sub: string): string {
  const claims = { sub, exp: Math.floor(Date.now() / 1000) + 60 };
  const signed = [{ alg: 'HS256' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const signature = createHmac('sha256', SECRET).update(signed.join('.')).digest('base64url');
  return [...signed, signature].join('.');
}

test('a frame that comes with the handshake is behind it', async () => {
  const socket = await socketTo();
  socket.write(Buffer.concat([Buffer.from(HANDSHAKE), CONNECT]));
  expect((await bytesBehindAnswer(socket, 3))[2]).toBe(CONNACK);
});

test('a handshake that comes byte by byte is answered', async () => {
  const socket = await socketTo();
  for (const byte of Buffer.from(HANDSHAKE)) {
    socket.write(Buffer.of(byte));
    await new Promise((resolve) => setImmediate(resolve));
  }
  socket.write(CONNECT);
  expect((await bytesBehindAnswer(socket, 3))[2]).toBe(CONNACK);
});

test('frames that come while a token is checked are handled when it has been', async () => {
  const identity = readIdentity({ authenticators: [{ jwt: { secret: SECRET } }] }, 'test');
  const socket = await socketTo({ identity });
  const handshake = HANDSHAKE.replace('/mqtt', `/mqtt?token=${tokenOf('ada')}`);
  socket.write(Buffer.concat([Buffer.from(handshake), CONNECT]));
  socket.write(frameBytes({ opcode: 2, payload: Buffer.of(PINGREQ, 0) }));
  let bytes = await bytesBehindAnswer(socket, 3);
  expect(bytes[2]).toBe(CONNACK);
  while (bytes.at(-2) !== PINGRESP) [bytes] = (await once(socket, 'data')) as [Buffer];
});

test('a connection that sends nothing is cut when its time is over [SEC-MEMORY-6]', async () => {
  const socket = await socketTo({ handshakeTimeoutSeconds: 1 });
  expect(await text(socket)).toBe('');
});

test('a handshake that is never finished is answered by http when its time is over [SEC-MEMORY-6]', async () => {
  const socket = await socketTo({ handshakeTimeoutSeconds: 1 });
  socket.write(HANDSHAKE.slice(0, -2));
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /);
});

test('a client that says that it sends no more before it has sent anything is cut', async () => {
  const socket = await socketTo();
  socket.end();
  expect(await text(socket)).toBe('');
});

test('a refusal reaches a client that sends no more behind its handshake', async () => {
  const socket = await socketTo();
  socket.end(HANDSHAKE.replace('Protocol: mqtt', 'Protocol: chat'));
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 [\s\S]*subprotocol "mqtt"/);
});

test('two requests of one connection are answered by http in their order', async () => {
  const socket = await socketTo();
  const get = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n';
  socket.end(`${get}\r\n${get}Connection: close\r\n\r\n`);
  expect((await text(socket)).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
});

test('a node stops although connections have sent nothing', async () => {
  const node = await nodeForTest();
  const socket = connect(node.port, '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await node.stop();
  socket.end();
  await closed;
});

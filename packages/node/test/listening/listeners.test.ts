import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import * as mqtt from 'mqtt';
import { generate } from 'mqtt-packet';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { type NodeOptions, parseListenAddress } from '../../src/index.ts';
import { call } from '../support/call-api.ts';
import { nodeForTest } from '../support/nodes.ts';

/** A node that listens at these addresses too, its log, and where its clients find each of them. */
async function listening(addresses: readonly string[], options: NodeOptions = {}) {
  const log: Record<string, unknown>[] = [];
  const node = await nodeForTest({
    ...{ logLevel: 'info', logSink: ({ event, fields }) => log.push({ event, ...fields }) },
    ...{ listen: addresses.map(parseListenAddress), ...options },
  });
  const [, ...urls] = node.urls;
  return { node, urls, log, events: () => log.map(({ event }) => event) };
}

async function connected(url: string, options: mqtt.IClientOptions = {}): Promise<mqtt.MqttClient> {
  const client = await mqtt.connectAsync(url.replace('tcp:', 'mqtt:'), { reconnectPeriod: 0, ...options });
  onTestFinished(() => void client.end(true));
  return client;
}

function connectTo(url: string, localAddress = '127.0.0.1'): Socket {
  const { hostname, port } = new URL(url);
  const socket = connectTcp({ host: hostname, port: Number(port), localAddress });
  onTestFinished(() => void socket.destroy());
  return socket.on('error', () => {});
}

const CONNECT = generate({
  ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clean: true, clientId: 'a', keepalive: 0 },
} as never);

describe('MQTT over TCP', () => {
  test('meets the clients of the WebSocket', async () => {
    const { node, urls } = await listening(['tcp://127.0.0.1:0']);
    const [tcp = ''] = urls;
    const one = await connected(tcp, { protocolVersion: 5, clientId: 'one' });
    const other = await connected(node.url, { clientId: 'other' });
    await one.subscribeAsync('t', { qos: 2 });
    const received = new Promise<[string, Buffer]>((resolve) =>
      one.once('message', (...message) => resolve([message[0], message[1]])),
    );
    await other.publishAsync('t', Buffer.alloc(300_000, 'x'), { qos: 2 });
    const [topic, payload] = await received;
    expect([topic, payload.length]).toEqual(['t', 300_000]);
    const { body } = await call(node.httpUrl, '/clients');
    expect((body as { data: { clientid: string }[] }).data.map(({ clientid }) => clientid).sort()).toEqual([
      'one',
      'other',
    ]);
  });

  test('takes packets that are cut anywhere, and many in one piece [MQTT-4.2.0-1]', async () => {
    const { urls } = await listening(['tcp://127.0.0.1:0']);
    const socket = connectTo(urls[0] ?? '');
    for (const byte of CONNECT) {
      socket.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
    expect((await once(socket, 'data'))[0]).toEqual(Buffer.of(0x20, 2, 0, 0));
    const pings = Buffer.concat(Array.from({ length: 100 }, () => Buffer.of(0xc0, 0)));
    socket.write(Buffer.concat([pings, Buffer.of(0xe0, 0)]));
    let answers = Buffer.alloc(0);
    for await (const chunk of socket) answers = Buffer.concat([answers, chunk as Buffer]);
    expect(answers).toEqual(Buffer.concat(Array.from({ length: 100 }, () => Buffer.of(0xd0, 0))));
  });

  test.each([
    ['HTTP', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', 'This port is for MQTT over TCP, not for HTTP.'],
    ['TLS', Buffer.of(0x16, 3, 1, 0, 5), 'This port has no TLS.'],
    ['a proxy', 'PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n', 'This port takes no PROXY protocol.'],
  ])('says what is wrong with %s', async (_what, bytes, reason) => {
    const { urls, log } = await listening(['tcp://127.0.0.1:0']);
    const socket = connectTo(urls[0] ?? '');
    socket.write(bytes);
    expect(await text(socket)).toContain(reason);
    expect(log).toContainEqual(expect.objectContaining({ event: 'foreign-protocol', reason }));
  });

  test('and a port of WebSockets says what is wrong with MQTT over TCP', async () => {
    const { node } = await listening([]);
    const socket = connectTo(node.url);
    socket.write(CONNECT);
    expect(await text(socket)).toContain('This port is for MQTT over WebSocket, not for MQTT over TCP.');
  });

  test('that is broken ends the connection, and no other', async () => {
    const { urls } = await listening(['tcp://127.0.0.1:0']);
    const client = await connected(urls[0] ?? '');
    const socket = connectTo(urls[0] ?? '');
    socket.write(Buffer.concat([CONNECT, Buffer.alloc(100, 0xff)]));
    await once(socket.resume(), 'close');
    await client.publishAsync('t', 'x', { qos: 1 });
  });

  test('takes part in a shutdown: clients are told, and the port is free', async () => {
    const { node, urls } = await listening(['tcp://127.0.0.1:0']);
    const client = await connected(urls[0] ?? '', { protocolVersion: 5 });
    const silent = connectTo(urls[0] ?? '');
    await once(silent, 'connect');
    const told = new Promise((resolve) => client.once('disconnect', resolve));
    await node.stop();
    expect(await told).toMatchObject({ reasonCode: 0x8b });
    const late = connectTo(urls[0] ?? '');
    await new Promise((resolve) => late.once('close', resolve));
  });
});

describe('a listener', () => {
  test('has connections of its own', async () => {
    const { urls, events } = await listening(['tcp://127.0.0.1:0?connections-max=1', 'tcp://127.0.0.1:0']);
    const [small = '', large = ''] = urls;
    await connected(small);
    const second = connectTo(small);
    await new Promise((resolve) => second.once('close', resolve));
    expect(events()).toContain('listener-full');
    await connected(large);
  });

  test('has origins of its own', async () => {
    const { node, urls } = await listening(['ws://127.0.0.1:0?origin=https://app.example']);
    const origin = { wsOptions: { origin: 'https://app.example' } };
    await connected(urls[0] ?? '', origin);
    const refused = new WebSocket(node.url, 'mqtt', origin.wsOptions);
    expect((await once(refused, 'unexpected-response'))[1].statusCode).toBe(403);
    refused.on('error', () => {}).terminate();
    const page = await fetch((urls[0] ?? '').replace('ws:', 'http:').replace('/mqtt', '/healthz'));
    expect(await page.json()).toMatchObject({ status: 'ok' });
  });

  test('keeps the shares of an address, and the places of the node [SEC-PLACE-1]', async () => {
    const { urls, events } = await listening(['tcp://127.0.0.1:0'], {
      connectionsMax: 4,
      pendingPerAddressMax: 2,
    });
    const silent = Array.from({ length: 3 }, () => connectTo(urls[0] ?? ''));
    await new Promise((resolve) => silent[0]?.once('close', resolve));
    expect(events()).toContain('pending-cut');
    await connected(urls[0] ?? '');
  });

  test('cuts who does not say CONNECT', async () => {
    const { urls } = await listening(['tcp://127.0.0.1:0'], { connectTimeoutSeconds: 1 });
    const socket = connectTo(urls[0] ?? '');
    await once(socket.resume(), 'close');
  });

  test('at an address that is taken says so', async () => {
    const { urls } = await listening(['tcp://127.0.0.1:0']);
    await expect(listening([urls[0] ?? ''])).rejects.toThrow('choose another port with --listen');
  });

  test('that other machines can reach needs credentials', async () => {
    await expect(listening(['tcp://0.0.0.0:0'])).rejects.toThrow('it would ask no client for a password');
  });
});

describe('the PROXY protocol', () => {
  const HEADER = 'PROXY TCP4 192.0.2.77 10.0.0.1 8080 1883\r\n';

  test('tells who the client is, at TCP and WebSocket', async () => {
    const { node, urls } = await listening(
      ['tcp://127.0.0.1:0?proxy-protocol', 'ws://127.0.0.1:0?proxy-protocol'],
      {
        trustedProxies: ['127.0.0.1'],
        allowAnonymous: true,
        apiKey: 'k'.repeat(32),
      },
    );
    const [tcp = '', ws = ''] = urls;
    const socket = connectTo(tcp);
    socket.write(Buffer.concat([Buffer.from(HEADER), CONNECT]));
    expect((await once(socket, 'data'))[0]).toEqual(Buffer.of(0x20, 2, 0, 0));
    const { body } = await call(node.httpUrl, '/clients/a', 'GET', {
      authorization: `Bearer ${'k'.repeat(32)}`,
    });
    expect(body).toMatchObject({ ip_address: '192.0.2.77' });
    const web = connectTo(ws);
    web.write(`${HEADER}GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(await text(web)).toContain('200 OK');
  });

  test('makes a client of another machine no client of this one [SEC-LOCAL-1]', async () => {
    const { urls, log } = await listening(['tcp://127.0.0.1:0?proxy-protocol'], {
      trustedProxies: ['127.0.0.1'],
    });
    const socket = connectTo(urls[0] ?? '');
    socket.write(Buffer.concat([Buffer.from(HEADER), CONNECT]));
    await once(socket.resume(), 'close');
    expect(log).toContainEqual(
      expect.objectContaining({ event: 'handshake-refused', address: '192.0.2.77:8080' }),
    );
  });

  test('is read from trusted proxies alone', async () => {
    const { urls, events } = await listening(['tcp://127.0.0.1:0?proxy-protocol'], {
      trustedProxies: ['10.0.0.1'],
    });
    const socket = connectTo(urls[0] ?? '');
    socket.write(HEADER);
    await once(socket.resume(), 'close');
    expect(events()).toContain('proxy-refused');
  });

  test('is needed where it is asked for', async () => {
    const { urls, events } = await listening(['tcp://127.0.0.1:0?proxy-protocol'], {
      trustedProxies: ['127.0.0.1'],
    });
    const socket = connectTo(urls[0] ?? '');
    socket.write(CONNECT);
    await once(socket.resume(), 'close');
    expect(events()).toContain('proxy-refused');
  });

  test('that does not come in time ends the connection', async () => {
    const { urls } = await listening(['tcp://127.0.0.1:0?proxy-protocol'], {
      trustedProxies: ['127.0.0.1'],
      handshakeTimeoutSeconds: 1,
    });
    const socket = connectTo(urls[0] ?? '');
    socket.write('PROXY TCP4 ');
    await once(socket.resume(), 'close');
  });
});

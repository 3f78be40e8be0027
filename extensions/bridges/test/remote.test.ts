import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readBridges } from '../src/index.ts';
import { Remote } from '../src/mqtt/remote.ts';

test('a bridge reconnects after the other broker has refused it', async () => {
  const answers = [0x88, 0x87, 0];
  const broker = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      const code = answers.shift() ?? 0;
      socket.write(Uint8Array.of(0x20, 3, 0, code, 0));
      if (code !== 0) socket.end();
    });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void broker.close());
  await once(broker, 'listening');
  const { port } = broker.address() as AddressInfo;
  const place = { where: 'b', directory: '.', environment: {}, nowMs: Date.now() };
  const mqtt = { url: `mqtt://127.0.0.1:${port}`, version: '5' };
  const [bridge] = readBridges({ bridges: [{ name: 'a', mqtt, in: [{ filter: 'a' }] }] }, place);
  if (bridge?.kind !== 'mqtt') throw new Error('no bridge to an MQTT broker');
  const downs: (string | undefined)[] = [];
  let isUp = () => {};
  const up = new Promise<void>((resolve) => {
    isUp = resolve;
  });
  const nothing = { received: async () => {}, released: async () => {}, ready: () => {} };
  const down = (why?: string) => void downs.push(why);
  const remote = new Remote(bridge, { ...nothing, down, up: async () => isUp() });
  remote.connect();
  onTestFinished(() => remote.stop());
  await up;
  expect(downs.slice(0, 2)).toEqual([
    expect.stringContaining('unavailable'),
    expect.stringContaining('Not authorized'),
  ]);
});

test('a bridge that is stopped while its URL is being signed does not connect', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  const iotCore = { endpoint: `localhost:${port}`, region: 'eu-west-1', webSocket: true };
  const place = { where: 'b', directory: '.', environment: {}, nowMs: Date.now() };
  const [bridge] = readBridges({ bridges: [{ name: 'a', iotCore, in: [{ filter: 'a' }] }] }, place);
  if (bridge?.kind !== 'mqtt') throw new Error('no bridge to an MQTT broker');
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const credentials = async () => {
    await released;
    return { accessKeyId: 'a', secretAccessKey: 'b' };
  };
  const nothing = { received: async () => {}, released: async () => {}, up: async () => {} };
  const remote = new Remote(bridge, { ...nothing, down: () => {}, ready: () => {} }, credentials);
  remote.connect();
  await remote.stop();
  release();
  // Signing takes some turns of the event loop; a connection of the bridge would come before that of the test.
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
  const own = connect(port, '127.0.0.1');
  await once(own, 'close');
  expect(connections).toBe(1);
});

test('a bridge that is stopped while it waits for CONNACK leaves no timer, which would keep its process alive', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const silent = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const place = { where: 'b', directory: '.', environment: {}, nowMs: Date.now() };
  const mqtt = { url: `mqtt://127.0.0.1:${port}`, version: '5' };
  const [bridge] = readBridges({ bridges: [{ name: 'a', mqtt, in: [{ filter: 'a' }] }] }, place);
  if (bridge?.kind !== 'mqtt') throw new Error('no bridge to an MQTT broker');
  const nothing = { received: async () => {}, released: async () => {}, up: async () => {} };
  let isDown = () => {};
  const closed = new Promise<void>((resolve) => {
    isDown = resolve;
  });
  const remote = new Remote(bridge, { ...nothing, down: () => isDown(), ready: () => {} });
  remote.connect();
  await once(silent, 'connection');
  await remote.stop();
  await closed;
  expect(vi.getTimerCount()).toBe(0);
});

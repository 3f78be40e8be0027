import mqttPacket from 'mqtt-packet';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Hub, HubObject } from '../src/index.ts';
import { SimulatedObject, SimulatedSocket } from './object/simulated-object.ts';

const NOW_MS = 1_800_000_000_000;
const KEEP_ALIVE_SECONDS = 60;
const PINGREQ = Uint8Array.of(0xc0, 0).buffer;

beforeEach(() => void vi.useFakeTimers({ now: NOW_MS, toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

const settled = () => new Promise(setImmediate);

function bytesOf(packet: object): ArrayBuffer {
  return Uint8Array.from(mqttPacket.generate(packet as never, { protocolVersion: 5 })).buffer;
}

/** An object that sleeps, and a client that is connected. It has taken all that came. */
async function sleeping(...packets: readonly ArrayBuffer[]) {
  const object = new SimulatedObject();
  const hub = new Hub(object, {}, object.alarmAtMs);
  const socket = new SimulatedSocket();
  object.acceptWebSocket(socket);
  hub.accepted(socket, { address: '192.0.2.1' });
  const facts = { clientId: 'a', protocolVersion: 5, clean: true, keepalive: KEEP_ALIVE_SECONDS };
  const properties = { sessionExpiryInterval: 600 };
  hub.received(socket, bytesOf({ cmd: 'connect', ...facts, properties }));
  await settled();
  // The look for clients without CONNECT sets the alarm for silent ones.
  vi.setSystemTime(object.alarmAtMs ?? Number.NaN);
  object.alarmAtMs = null;
  hub.alarmRang();
  for (const packet of [PINGREQ, ...packets]) {
    hub.received(socket, packet);
    await settled();
  }
  socket.sent.length = 0;
  object.rowsRead = 0;
  return { object, socket, woken: await woken(object) };
}

/** The alarm goes off, and the object has slept before. */
async function ring(object: SimulatedObject, atMs: number): Promise<void> {
  vi.setSystemTime(atMs);
  const hub = await woken(object);
  object.alarmAtMs = null;
  hub.alarm();
  await vi.advanceTimersByTimeAsync(0);
  await settled();
}

const pass = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1_000);

async function woken(object: SimulatedObject): Promise<HubObject> {
  const hub = new HubObject(object, () => ({}));
  await settled();
  return hub;
}

const PINGRESP = [0xd0, 0];
const hexOf = (socket: SimulatedSocket) => socket.sent.map((frame) => [...frame]);

it('answers PINGREQ without reading a row, and takes it for a sign of life [MQTT-3.12.4-1] [MQTT-3.1.2-22]', async () => {
  const { object, socket, woken: sleeper } = await sleeping();
  for (const seconds of [20, 10]) {
    pass(seconds);
    sleeper.webSocketMessage(socket, PINGREQ);
  }
  await settled();
  expect(hexOf(socket)).toEqual([PINGRESP, PINGRESP]);
  expect(object.rowsRead).toBe(0);
  await ring(object, Date.now() + (1.5 * KEEP_ALIVE_SECONDS - 1) * 1_000);
  expect(socket.closedWith).toBeUndefined();
});

it('ends a client that is silent though the object sleeps between its alarms [MQTT-3.1.2-22]', async () => {
  const { object, socket } = await sleeping();
  const [lastPacketAtMs, slackMs] = [Date.now(), KEEP_ALIVE_SECONDS * 250];
  while (socket.closedWith === undefined && Date.now() <= lastPacketAtMs + 300_000)
    await ring(object, object.alarmAtMs ?? Number.POSITIVE_INFINITY);
  expect(Date.now()).toBeLessThanOrEqual(lastPacketAtMs + 1_500 * KEEP_ALIVE_SECONDS + slackMs);
});

const wakes = (object: SimulatedObject) => expect(object.rowsRead).toBeGreaterThan(0);

it('wakes the hub where the last packet came within a second [SEC-QUOTA-1]', async () => {
  const { object, socket, woken: sleeper } = await sleeping();
  pass(0.999);
  sleeper.webSocketMessage(socket, PINGREQ);
  await settled();
  expect(hexOf(socket)).toEqual([PINGRESP]);
  wakes(object);
});

it('wakes the hub where its alarm is late or missing', async () => {
  for (const isMissing of [false, true]) {
    const { object, socket } = await sleeping();
    pass(10);
    object.alarmAtMs = isMissing ? null : Date.now();
    (await woken(object)).webSocketMessage(socket, PINGREQ);
    await settled();
    expect(hexOf(socket)).toEqual([PINGRESP]);
    wakes(object);
  }
});

it('wakes the hub where the bytes are the end of another packet', async () => {
  const publish = bytesOf({
    cmd: 'publish',
    topic: 't',
    payload: Buffer.from(PINGREQ),
    qos: 1,
    messageId: 9,
  });
  const { socket, woken: sleeper } = await sleeping(publish.slice(0, -2));
  pass(10);
  sleeper.webSocketMessage(socket, PINGREQ);
  await settled();
  expect(socket.sent.map(([type]) => (type ?? 0) >> 4)).toEqual([4]);
});

it('wakes the hub for any other packet', async () => {
  const { object, socket, woken: sleeper } = await sleeping();
  pass(10);
  sleeper.webSocketMessage(
    socket,
    bytesOf({ cmd: 'publish', topic: 't', payload: 'x', qos: 1, messageId: 9 }),
  );
  await settled();
  expect(socket.sent.map(([type]) => (type ?? 0) >> 4)).toEqual([4]);
  wakes(object);
});

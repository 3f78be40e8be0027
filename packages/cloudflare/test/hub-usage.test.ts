import type { UsageLine } from '@apus/broker';
import mqttPacket from 'mqtt-packet';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Hub } from '../src/index.ts';
import { USAGE_DAYS_MAX, USAGE_ROW_MS } from '../src/limits.ts';
import { type SocketNote, unpackLink } from '../src/storage/saved-link.ts';
import { SimulatedObject, SimulatedSocket } from './object/simulated-object.ts';

/** A quarter of an hour before an hour is over. */
const NOW_MS = Date.parse('2026-11-25T18:45:00Z');
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const TENANT = 'default';

beforeEach(() => void vi.useFakeTimers({ now: NOW_MS, toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

const settled = () => new Promise(setImmediate);
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);
const hubOf = (object: SimulatedObject) => new Hub(object, { quietMs: 2 }, object.alarmAtMs);

function bytesOf(packet: object): ArrayBuffer {
  return Uint8Array.from(mqttPacket.generate(packet as never, { protocolVersion: 5 })).buffer;
}

const publishOf = (qos: 0 | 1) =>
  bytesOf({ cmd: 'publish', topic: 't', payload: 'x', qos, retain: false, dup: false, messageId: 1 });
const DISCONNECT = bytesOf({ cmd: 'disconnect', reasonCode: 0 });

async function send(hub: Hub, socket: SimulatedSocket, ...packets: readonly ArrayBuffer[]): Promise<void> {
  for (const packet of packets) hub.received(socket, packet);
  await settled();
}

/** A client that has connected, and how many bytes it has sent for it. */
async function connected(object: SimulatedObject, hub: Hub, clientId = 'a') {
  const socket = new SimulatedSocket();
  object.acceptWebSocket(socket);
  hub.accepted(socket, { address: '192.0.2.1' });
  const connect = bytesOf({ cmd: 'connect', clientId, protocolVersion: 5, clean: true, keepalive: 0 });
  await send(hub, socket, connect);
  return { socket, bytes: connect.byteLength };
}

async function usageOf(hub: Hub, query = ''): Promise<readonly UsageLine[]> {
  const request = new Request(`http://hub/api/v5/usage?from=2026-01${query}`);
  const answer = await hub.answer(request, { tenant: TENANT });
  return ((await answer.json()) as { readonly data: readonly UsageLine[] }).data;
}

it('counts on where the object has slept, and the time of its sleep in each hour', async () => {
  const object = new SimulatedObject();
  const first = hubOf(object);
  const { socket, bytes } = await connected(object, first);
  await send(first, socket, publishOf(0), publishOf(1));
  const second = hubOf(object);
  await send(second, socket, publishOf(1));
  pass(90 * MINUTE_MS);
  const third = hubOf(object);
  const [hour18, hour19, hour20] = await usageOf(third, '&by=hour');
  expect(hour18).toMatchObject({
    ...{ tenant: TENANT, time: '2026-11-25T18', messagesIn: 3, connectionMs: 15 * MINUTE_MS },
    ...{ bytesIn: bytes + publishOf(0).byteLength + 2 * publishOf(1).byteLength, uncertainMs: 0 },
  });
  expect(hour19).toMatchObject({ time: '2026-11-25T19', connectionMs: 60 * MINUTE_MS });
  expect(hour20).toMatchObject({ time: '2026-11-25T20', connectionMs: 15 * MINUTE_MS });
  // And once more, from the rows that it has written meanwhile.
  await send(third, socket, publishOf(1));
  const [total] = await usageOf(hubOf(object));
  expect(total).toMatchObject({ messagesIn: 4, connectionMs: 90 * MINUTE_MS });
});

it('keeps what a connection has used that has ended, and counts its time no longer', async () => {
  const object = new SimulatedObject();
  const hub = hubOf(object);
  const { socket } = await connected(object, hub);
  const { socket: other } = await connected(object, hub, 'b');
  pass(MINUTE_MS);
  for (const each of [socket, other]) {
    await send(hub, each, publishOf(0), DISCONNECT);
    each.readyState = 3;
    hub.closed(each, 'gone');
    await settled();
  }
  pass(10 * MINUTE_MS);
  const [total] = await usageOf(hubOf(object));
  expect(total).toMatchObject({ messagesIn: 2, connectionMs: 2 * MINUTE_MS, uncertainMs: 0 });
});

it('counts a client that leaves with the message that it came with', async () => {
  const object = new SimulatedObject();
  const hub = hubOf(object);
  const socket = new SimulatedSocket();
  object.acceptWebSocket(socket);
  hub.accepted(socket, { address: '192.0.2.1' });
  const connect = bytesOf({ cmd: 'connect', clientId: 'a', protocolVersion: 5, clean: true, keepalive: 0 });
  const all = Buffer.concat([connect, publishOf(0), DISCONNECT].map((packet) => Buffer.from(packet)));
  await send(hub, socket, Uint8Array.from(all).buffer);
  const [total] = await usageOf(hubOf(object));
  expect(total).toMatchObject({ messagesIn: 1, bytesIn: all.length });
});

it('says for how long it may have missed something when the object was reset', async () => {
  const object = new SimulatedObject(true);
  const hub = hubOf(object);
  const { socket } = await connected(object, hub);
  object.endEvent();
  while (object.isBusy) object.confirm();
  await send(hub, socket, publishOf(0));
  pass(5 * MINUTE_MS);
  const [total] = await usageOf(hubOf(object.next(true)));
  expect(total?.uncertainMs).toBe(5 * MINUTE_MS);
});

it('writes a row each ten minutes at most, and for messages of backends none where there is a socket', async () => {
  const object = new SimulatedObject();
  const hub = hubOf(object);
  const { socket } = await connected(object, hub);
  await send(hub, socket, publishOf(0));
  const exec = vi.spyOn(object.storage.sql, 'exec');
  const rows = () =>
    exec.mock.calls.filter(([query, key]) => query.startsWith('INSERT') && String(key).startsWith('u'));
  for (let count = 0; count < 100; count += 1) await send(hub, socket, publishOf(0));
  const body = JSON.stringify({ topic: 't', payload: 'four' });
  const publish = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
  const answer = await hub.answer(new Request('http://hub/api/v5/publish', publish), { tenant: TENANT });
  expect(answer.ok).toBe(true);
  expect(rows()).toHaveLength(0);
  pass(USAGE_ROW_MS);
  for (let count = 0; count < 100; count += 1) await send(hub, socket, publishOf(0));
  expect(rows()).toHaveLength(1);
  const [total] = await usageOf(hubOf(object));
  expect(total?.messagesIn).toBe(202);
});

it('counts messages of backends where there is no socket', async () => {
  const object = new SimulatedObject();
  const body = JSON.stringify({ topic: 't', payload: 'four' });
  const publish = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
  await hubOf(object).answer(new Request('http://hub/api/v5/publish', publish), { tenant: TENANT });
  const [total] = await usageOf(hubOf(object));
  expect(total).toMatchObject({ messagesIn: 1, bytesIn: 4 });
});

it('forgets usage that is older than its limit', async () => {
  const object = new SimulatedObject();
  const days = [0, 1, USAGE_DAYS_MAX / 2, USAGE_DAYS_MAX + 2];
  for (const [index, day] of days.entries()) {
    pass((day - (days[index - 1] ?? 0)) * DAY_MS);
    const hub = hubOf(object);
    const { socket } = await connected(object, hub);
    await send(hub, socket, publishOf(0), DISCONNECT);
    socket.readyState = 3;
    hub.closed(socket, 'gone');
    await settled();
  }
  const lines = await usageOf(hubOf(object), '&by=day');
  expect(lines.map(({ messagesIn }) => messagesIn)).toEqual([1, 1]);
});

/** The numbers of the notes that sockets carry. */
function carried(sockets: readonly SimulatedSocket[]): readonly number[] {
  return sockets.flatMap((socket) => {
    const { link } = socket.deserializeAttachment() as SocketNote;
    return link === undefined ? [] : (unpackLink(link).usage?.[0] ?? []);
  });
}

it('has one of the sockets that it saves together carry the usage, and another one when that has gone', async () => {
  const object = new SimulatedObject();
  const hub = hubOf(object);
  const clients = [];
  for (const clientId of ['a', 'b', 'c']) clients.push(await connected(object, hub, clientId));
  const sockets = clients.map(({ socket }) => socket);
  const [publisher, ...others] = sockets as [SimulatedSocket, ...SimulatedSocket[]];
  const subscribe = bytesOf({ cmd: 'subscribe', messageId: 2, subscriptions: [{ topic: 't', qos: 1 }] });
  for (const other of others) await send(hub, other, subscribe);
  await send(hub, publisher, publishOf(1));
  expect(carried(sockets)).toHaveLength(1);
  const [carrier = publisher] = sockets.filter((socket) => carried([socket]).length > 0);
  carrier.readyState = 3;
  hub.closed(carrier, 'gone');
  await settled();
  const [total] = await usageOf(hubOf(object));
  expect(total).toMatchObject({ messagesIn: 1, messagesOutQos1: 2 });
});

import { type Packet, PacketDecoder } from '@apus/mqtt';
import mqttPacket from 'mqtt-packet';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Hub, type HubOptions } from '../src/index.ts';
import { SimulatedObject, SimulatedSocket } from './object/simulated-object.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const settled = () => new Promise(setImmediate);

function bytesOf(packet: object): ArrayBuffer {
  return Uint8Array.from(mqttPacket.generate(packet as never, { protocolVersion: 5 })).buffer;
}

const publishOf = (facts: object = {}) => ({
  ...{ cmd: 'publish', topic: 't', payload: 'x', qos: 0, retain: false, dup: false, messageId: 1 },
  ...facts,
});

/** A hub, and clients that count how they end. */
function opened(options: HubOptions) {
  const object = new SimulatedObject();
  const hub = new Hub(object, options, null);
  const open = (address = '192.0.2.1') => {
    const socket = new SimulatedSocket();
    object.acceptWebSocket(socket);
    hub.accepted(socket, { address, host: address });
    return socket;
  };
  const connect = async (clientId: string, address?: string) => {
    const socket = open(address);
    hub.received(
      socket,
      bytesOf({ cmd: 'connect', clientId, protocolVersion: 5, clean: true, keepalive: 0 }),
    );
    await settled();
    return socket;
  };
  return { hub, open, connect };
}

/** What a client was sent behind CONNACK. */
function received({ sent }: SimulatedSocket): readonly Packet[] {
  const decoder = new PacketDecoder({ maximumPacketSize: 2 ** 24, role: 'client' });
  return sent.flatMap((bytes) => decoder.push(bytes) as Packet[]).slice(1);
}

const codesOf = (socket: SimulatedSocket) =>
  received(socket).flatMap((packet) => ('reasonCode' in packet ? [packet.reasonCode] : []));

it('closes the oldest connection of an address that has too many without CONNECT, and no other [SEC-PLACE-1]', async () => {
  const { open, connect } = opened({ pendingPerAddressMax: 2 });
  const connected = await connect('a');
  const other = open('192.0.2.9');
  const [first, second] = [open(), open()];
  await settled();
  expect(first.closedWith).toBeUndefined();
  open();
  await settled();
  expect(first.closedWith).toBe(1013);
  expect([connected, other, second].map(({ closedWith }) => closedWith)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

it('gives the place of a client without CONNECT to a new one, and none of a connected client', async () => {
  const { hub, open, connect } = opened({ connectionsMax: 2, quotas: { identity: { connectionsMax: 2 } } });
  await connect('a');
  const waiting = open();
  expect(hub.makePlace()).toBe(true);
  await settled();
  expect(waiting.closedWith).toBe(1013);
  await connect('b');
  expect(hub.makePlace()).toBe(false);
});

it('refuses new messages with 0x97 where the stores have what they may, and delivers others [SEC-MEMORY-5]', async () => {
  const { hub, connect } = opened({ memoryBytesMax: 200_000 });
  const [client, subscriber] = [await connect('a'), await connect('b')];
  hub.received(
    subscriber,
    bytesOf({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 't', qos: 0 }] }),
  );
  for (let messageId = 1; messageId <= 30; messageId += 1) {
    const facts = { topic: `r/${messageId}`, payload: Buffer.alloc(10_000), qos: 1, retain: true, messageId };
    hub.received(client, bytesOf(publishOf(facts)));
  }
  await settled();
  expect(codesOf(client).slice(0, 5)).toEqual([0x10, 0x10, 0x10, 0x10, 0x10]);
  expect(codesOf(client).at(-1)).toBe(0x97);
  hub.received(client, bytesOf(publishOf()));
  await settled();
  expect(received(subscriber).at(-1)).toMatchObject({ type: 'publish', topic: 't' });
});

it('closes with 1009 for a WebSocket message that is larger than any packet may be', async () => {
  const { hub, connect } = opened({ webSocketMessageBytesMax: 1_000 });
  const client = await connect('a');
  hub.received(client, bytesOf(publishOf({ payload: Buffer.alloc(900) })));
  await settled();
  expect(client.closedWith).toBeUndefined();
  hub.received(client, bytesOf(publishOf({ payload: Buffer.alloc(1_000) })));
  await settled();
  expect(client.closedWith).toBe(1009);
});

it('disconnects the client that has left most unread with 0x97 when all together have left too much', async () => {
  const unread = 3_000_000;
  const limits = { unreadTotalBytesMax: 2 * unread - 1, outboundBufferBytesMax: 2 * unread };
  const { hub, connect } = opened({ ...limits, memoryBytesMax: 2 ** 26 });
  const [slow, slower, reader, publisher] = await Promise.all(['a', 'b', 'c', 'd'].map((id) => connect(id)));
  const subscribe = { cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 't', qos: 0 }] };
  for (const socket of [slow, slower, reader] as SimulatedSocket[]) hub.received(socket, bytesOf(subscribe));
  Object.assign(slow as SimulatedSocket, { bufferedAmount: unread - 1 });
  Object.assign(slower as SimulatedSocket, { bufferedAmount: unread + 1 });
  hub.received(publisher as SimulatedSocket, bytesOf(publishOf({ payload: Buffer.alloc(1_500_000) })));
  await settled();
  await settled();
  expect(codesOf(slower as SimulatedSocket).at(-1)).toBe(0x97);
  expect([slow, reader].map((socket) => socket?.closedWith)).toEqual([undefined, undefined]);
});

it('serves an identity no faster than its rate, and disconnects with 0x96 a client that sends on [SEC-QUOTA-1]', async () => {
  const limits = { inboundBufferBytesMax: 20_000, maximumPacketSize: 20_000 };
  const { hub, connect } = opened({ ...limits, quotas: { identity: { framesPerSecondMax: 10 } } });
  const [fast, other] = [await connect('fast', '192.0.2.1'), await connect('other', '192.0.2.2')];
  const ping = bytesOf({ cmd: 'pingreq' });
  const answers = () => received(fast).filter(({ type }) => type === 'pingresp').length;
  for (let count = 0; count < 30; count += 1) hub.received(fast, ping);
  await settled();
  expect(answers()).toBeLessThan(15);
  hub.received(other, ping);
  await settled();
  expect(received(other)).toEqual([{ type: 'pingresp' }]);
  vi.advanceTimersByTime(4_000);
  await settled();
  expect(answers()).toBe(30);
  for (let count = 0; count < 60; count += 1)
    hub.received(fast, bytesOf(publishOf({ payload: Buffer.alloc(1_000) })));
  await settled();
  expect(codesOf(fast)).toEqual([0x96]);
});

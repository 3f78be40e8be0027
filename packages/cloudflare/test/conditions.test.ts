import mqttPacket, { type Packet } from 'mqtt-packet';
import { expect, it, vi } from 'vitest';
import { HubObject } from '../src/index.ts';
import { SimulatedObject, SimulatedSocket } from './object/simulated-object.ts';

const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

function bytesOf(packet: object): ArrayBuffer {
  return Uint8Array.from(mqttPacket.generate(packet as never, { protocolVersion: 5 })).buffer;
}

/** The packets that a socket was sent since the last call. */
function received(socket: SimulatedSocket): Packet[] {
  const packets: Packet[] = [];
  const parser = mqttPacket.parser({ protocolVersion: 5 });
  parser.on('packet', (packet: Packet) => packets.push(packet));
  for (const frame of socket.sent.splice(0)) parser.parse(Buffer.from(frame as Uint8Array));
  return packets;
}

const publishOf = (t: number) =>
  bytesOf({ cmd: 'publish', topic: 't', payload: `{"t": ${t}}`, qos: 0, retain: false, dup: false });
const subscribeOf = (userProperties: Readonly<Record<string, string>>) =>
  bytesOf({
    cmd: 'subscribe',
    messageId: 1,
    subscriptions: [{ topic: 't', qos: 0 }],
    properties: { userProperties },
  });

/** An object in which a client has connected and subscribed, and which has lost its memory since. */
async function asleep(userProperties: Readonly<Record<string, string>>) {
  const object = new SimulatedObject();
  const hub = new HubObject(object, () => ({ quietMs: 2 }));
  await settled();
  const socket = new SimulatedSocket();
  object.acceptWebSocket(socket);
  hub.hub.accepted(socket, { address: '192.0.2.1' });
  hub.webSocketMessage(
    socket,
    bytesOf({ cmd: 'connect', clientId: 'a', protocolVersion: 5, clean: true, keepalive: 0 }),
  );
  await settled();
  hub.webSocketMessage(socket, subscribeOf(userProperties));
  // What evaluates conditions is loaded now.
  await vi.waitFor(() => expect(socket.sent).toHaveLength(2), { timeout: 60_000 });
  await settled();
  expect(received(socket).map(({ cmd }) => cmd)).toEqual(['connack', 'suback']);
  const woken = new HubObject(object, () => ({ quietMs: 2 }));
  await settled();
  return { object, socket, woken };
}

it('an object that wakes knows the conditions of its subscriptions before it handles the event', async () => {
  const { socket, woken } = await asleep({ where: 'payload.t > 80' });
  const handled = woken.webSocketMessage(socket, publishOf(81));
  expect(handled).toBeInstanceOf(Promise);
  await handled;
  // From here on it has its memory.
  expect(woken.webSocketMessage(socket, publishOf(1))).toBeUndefined();
  woken.webSocketMessage(socket, publishOf(82));
  await settled();
  expect(received(socket)).toMatchObject([
    { cmd: 'publish', payload: Buffer.from('{"t": 81}') },
    { cmd: 'publish', payload: Buffer.from('{"t": 82}') },
  ]);
});

it('an object without conditions handles the event in its turn, and loads nothing', async () => {
  const { object, socket, woken } = await asleep({ other: 'x' });
  expect(woken.webSocketMessage(socket, publishOf(1))).toBeUndefined();
  await settled();
  expect(received(socket)).toMatchObject([{ cmd: 'publish', payload: Buffer.from('{"t": 1}') }]);
  expect([...object.rows.keys()]).not.toContain('k');
});

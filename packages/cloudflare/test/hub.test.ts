import { PacketDecoder, Violation } from '@apus/mqtt';
import mqttPacket from 'mqtt-packet';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { awakeScheduler } from '../src/alarm-clock.ts';
import { consoleLog } from '../src/console-log.ts';
import { Hub, type HubOptions } from '../src/index.ts';
import { KeepAlive } from '../src/links/keep-alive.ts';
import type { ObjectLink } from '../src/links/object-link.ts';
import { packFacts, packLink, type SavedLink, unpackLink } from '../src/storage/saved-link.ts';
import { SimulatedObject, SimulatedSocket } from './object/simulated-object.ts';

const NOW_MS = 1_800_000_000_000;

beforeEach(() => void vi.useFakeTimers({ now: NOW_MS, toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

/** Everything is done that needs no timer. */
const settled = () => new Promise(setImmediate);

function bytesOf(packet: object): ArrayBuffer {
  const bytes = mqttPacket.generate(packet as never, { protocolVersion: 5 });
  return Uint8Array.from(bytes).buffer;
}

/** A hub and a client that has sent CONNECT. */
async function connected(object: SimulatedObject, options: HubOptions = {}, sessionExpiryInterval = 0) {
  const hub = new Hub(object, options, object.alarmAtMs);
  const socket = new SimulatedSocket();
  object.acceptWebSocket(socket);
  hub.accepted(socket, { address: '192.0.2.1' });
  const properties = { sessionExpiryInterval };
  const facts = { clientId: 'a', protocolVersion: 5, clean: true, keepalive: 0, properties };
  hub.received(socket, bytesOf({ cmd: 'connect', ...facts }));
  await settled();
  return { hub, socket };
}

const publishOf = (topic: string, qos: 0 | 1) =>
  bytesOf({ cmd: 'publish', topic, payload: 'x', qos, retain: false, dup: false, messageId: 1 });

it('sends no frame of an event whose commit the storage refuses', async () => {
  const object = new SimulatedObject();
  object.isBroken = true;
  const { socket } = await connected(object, { log: { ...consoleLog, error: () => {} } }, 60);
  expect(socket.sent).toEqual([]);
  expect(object.abortedBecause).toBeDefined();
});

it('sets its alarm for a delayed message that it finds when it wakes for another reason', async () => {
  const object = new SimulatedObject();
  const { hub, socket } = await connected(object);
  hub.received(socket, publishOf('$delayed/3600/t', 1));
  hub.received(socket, bytesOf({ cmd: 'disconnect', reasonCode: 0 }));
  await settled();
  // The time to send CONNECT is over, and the memory of the object was lost before.
  object.alarmAtMs = null;
  new Hub(object, {}, null).alarmRang();
  await settled();
  expect(object.alarmAtMs).toBe(NOW_MS + 3_600_000);
});

it('takes no later session of a lost client for a member of its room', async () => {
  const object = new SimulatedObject();
  const { hub, socket } = await connected(object, { log: consoleLog });
  hub.received(socket, publishOf('$presence/r/ann', 1));
  await settled();
  hub.closed(socket, 'lost');
  await settled();
  // It sleeps before the client comes back, and after it.
  await connected(object);
  vi.advanceTimersByTime(1_000);
  const members = () => [...object.rows.keys()].filter((key) => key.startsWith('n'));
  expect(members()).toHaveLength(1);
  const woken = new Hub(object, {}, object.alarmAtMs);
  vi.advanceTimersByTime(60_000);
  woken.alarmRang();
  await settled();
  vi.advanceTimersByTime(1_000);
  await settled();
  expect(members()).toEqual([]);
});

it('does not take a packet again that it has taken after its link was saved', async () => {
  const object = new SimulatedObject();
  const answers: ((may: boolean) => void)[] = [];
  const mayPublish = () => new Promise<boolean>((resolve) => answers.push(resolve));
  const options = { authorizer: { mayPublish, maySubscribe: () => true } };
  const { hub, socket } = await connected(object, options);
  hub.received(socket, publishOf('t', 0));
  hub.received(socket, publishOf('t', 0));
  await settled();
  vi.advanceTimersByTime(1_000);
  for (const _ of ['first', 'second']) {
    answers.at(-1)?.(true);
    await settled();
  }
  vi.advanceTimersByTime(1_000);
  new Hub(object, options, null).received(socket, bytesOf({ cmd: 'pingreq' }));
  await settled();
  expect(answers.length).toBe(2);
});

it('waits for a link that is busy when its identity expires', () => {
  let looks = 0;
  const link = {
    ...{ isOpen: true, isBusy: true, openedAtMs: NOW_MS, lastPacketAtMs: NOW_MS },
    state: { phase: 'connected', connection: { identity: { expiresAtMs: NOW_MS }, keepAliveSeconds: 0 } },
    disconnect: vi.fn(() => {
      link.isOpen = false;
    }),
  };
  const all = () => {
    looks += 1;
    return [link as unknown as ObjectLink];
  };
  const context = { clock: awakeScheduler, log: consoleLog, connectTimeoutSeconds: 10, all };
  new KeepAlive(context).watch(link as unknown as ObjectLink);
  vi.advanceTimersByTime(1_000);
  expect(link.disconnect).not.toHaveBeenCalled();
  expect(looks).toBeLessThan(10);
  link.isBusy = false;
  vi.advanceTimersByTime(1_000);
  expect(link.disconnect).toHaveBeenCalledOnce();
});

it('saves a link as bytes of its own: an attachment takes the whole buffer behind a view', () => {
  const link = { id: 'a', unfinished: Uint8Array.of(1, 2, 3), aliases: [[1, 't']] } as unknown as SavedLink;
  const bytes = packLink(packFacts(link), link);
  expect(bytes.buffer.byteLength).toBe(bytes.length);
  packLink(packFacts({ ...link, id: 'b' }), link);
  expect(unpackLink(bytes)).toMatchObject({ id: 'a', unfinished: link.unfinished });
});

it('sends a history that is larger than its memory whole and in order, also when it has slept', async () => {
  const object = new SimulatedObject();
  const [count, memoryBytesMax] = [900, 256 * 1024];
  const streams = [{ name: 's', topicFilter: 's/#', messagesMax: count }];
  const { hub, socket } = await connected(object, { streams, memoryBytesMax });
  for (let number = 1; number <= count; number += 1) {
    const payload = `${number}`.padEnd(1_000);
    hub.received(socket, bytesOf({ cmd: 'publish', topic: 's/a', payload, qos: 1, messageId: number }));
    await settled();
  }
  const { hub: woken, socket: reader } = await connected(object, { streams, memoryBytesMax });
  const userProperties = { 'stream-offset': 'earliest' };
  const subscriptions = [{ topic: 's/a', qos: 0 }];
  woken.received(
    reader,
    bytesOf({ cmd: 'subscribe', messageId: 1, properties: { userProperties }, subscriptions }),
  );
  await settled();
  const decoder = new PacketDecoder({ maximumPacketSize: 1_000_000, role: 'client' });
  const packets = reader.sent.flatMap((frame) => decoder.push(frame));
  const numbers = packets.flatMap((packet) =>
    !(packet instanceof Violation) && packet.type === 'publish' ? [Number(String(packet.payload))] : [],
  );
  expect(numbers).toEqual(Array.from({ length: count }, (_, index) => index + 1));
});

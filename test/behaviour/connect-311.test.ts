import { describe, expect, it } from 'vitest';
import type { RawClient } from '../support/raw-client.ts';
import { unique } from '../support/unique.ts';
import { connect311Bytes, text } from './raw/hex.ts';
import {
  expectCloseWithoutPackets,
  expectMessage,
  type Fields,
  publish,
  subscribe,
  usePeers,
} from './raw/peers.ts';

const peers = usePeers();

const connect = (fields: Fields = {}) => peers.connect({ protocolVersion: 4, ...fields });

async function testator(topic: string, will: Fields = {}, fields: Fields = {}): Promise<RawClient> {
  const { client } = await connect({
    will: { topic, payload: 'gone', qos: 0, retain: false, ...will },
    ...fields,
  });
  return client;
}

/** Publishes a marker on the topic as a will, and expects it to be the next message that the watcher gets. */
async function expectOnlyMarker(watcher: RawClient, topic: string): Promise<void> {
  await (await testator(topic, { payload: 'marker' })).vanish();
  await expectMessage(watcher, 'marker');
}

describe('CONNECT of MQTT 3.1.1', () => {
  it('is answered with a CONNACK of four bytes and no properties [MQTT3-3.1.4-4] [MQTT3-3.2.2-1] [MQTT3-3.2.0-1]', async () => {
    const { client, connack } = await connect();
    expect(client.bytesOf(connack)).toEqual(Buffer.from([0x20, 2, 0, 0]));
    await client.expectNothing();
  });

  it('may be of MQTT 3.1: protocol name MQIsdp, level 3', async () => {
    const topic = unique('older');
    const { client, connack } = await peers.connect({ protocolVersion: 3 });
    expect(client.bytesOf(connack)).toEqual(Buffer.from([0x20, 2, 0, 0]));
    await subscribe(client, topic, { qos: 1 });
    await publish((await peers.connect()).client, { topic, payload: 'x', qos: 1 });
    await expectMessage(client, 'x');
  });

  it.each([
    ['00', 'MQTT'],
    ['02', 'MQTT'],
    ['03', 'MQTT'],
    ['02', 'MQIsdp'],
  ])(
    'of the unknown level 0x%s (%s) is answered with return code 1, then closed [MQTT3-3.1.2-2] [MQTT3-3.2.2-5] [MQTT3-3.2.2-4]',
    async (level, name) => {
      const client = await peers.open(4);
      client.sendBytes(connect311Bytes({ level, protocolName: text(name) }));
      const connack = await client.expect('connack');
      expect(client.bytesOf(connack)).toEqual(Buffer.from([0x20, 2, 0, 1]));
      await client.expectClose();
    },
  );

  it('must come first [MQTT3-3.1.0-1]', async () => {
    const client = await peers.open(4);
    client.sendBytes('c000');
    await expectCloseWithoutPackets(client);
  });

  it('when refused, lets no later packet be processed [MQTT3-3.1.4-5]', async () => {
    const topic = unique('refused');
    const watcher = await peers.subscriber(topic);
    const client = await peers.open(4);
    const publishBytes = `30 ${(topic.length + 3).toString(16).padStart(2, '0')} ${text(topic)} 78`;
    client.sendBytes(connect311Bytes({ level: '02' }) + publishBytes);
    await client.expectClose();
    await expectOnlyMarker(watcher, topic);
  });
});

describe('the client identifier of MQTT 3.1.1', () => {
  it('may be empty with Clean Session 1, each time as another client [MQTT3-3.1.3-6]', async () => {
    const first = await connect({ clientId: '' });
    const second = await connect({ clientId: '' });
    expect(first.connack.returnCode).toBe(0);
    expect(second.connack.returnCode).toBe(0);
    await first.client.expectNothing();
    await second.client.expectNothing();
  });

  it('empty with Clean Session 0 is rejected with return code 2, then closed [MQTT3-3.1.3-8] [MQTT3-3.1.3-9] [MQTT3-3.2.2-4]', async () => {
    const client = await peers.open(4);
    client.sendBytes(connect311Bytes({ flags: '00', payload: text('') }));
    const connack = await client.expect('connack');
    expect(client.bytesOf(connack)).toEqual(Buffer.from([0x20, 2, 0, 2]));
    await client.expectClose();
  });

  it('may be any 1 to 23 letters and digits [MQTT3-3.1.3-5]', async () => {
    for (const clientId of ['a', '0123456789abcdefghijklm', 'nopqrstuvwxyzABCDEFGHIJ', 'KLMNOPQRSTUVWXYZ']) {
      expect((await connect({ clientId })).connack.returnCode, clientId).toBe(0);
    }
  });
});

describe('Clean Session of MQTT 3.1.1', () => {
  it('0 stores the session: Session Present tells [MQTT3-3.1.2-4] [MQTT3-3.2.2-2] [MQTT3-3.2.2-3]', async () => {
    const clientId = unique('stored');
    const first = await connect({ clientId, clean: false });
    expect(first.connack.sessionPresent).toBe(false);
    await first.client.disconnect();
    const second = await connect({ clientId, clean: false });
    expect(second.client.bytesOf(second.connack)).toEqual(Buffer.from([0x20, 2, 1, 0]));
  });

  it('0 gathers the QoS 1 and 2 messages of its subscriptions while it is away [MQTT3-3.1.2-5] [MQTT3-4.1.0-1]', async () => {
    const clientId = unique('stored');
    const topic = unique('stored');
    const first = await connect({ clientId, clean: false });
    await subscribe(first.client, topic, { qos: 2 });
    await first.client.vanish();
    const { client: publisher } = await connect();
    await publish(publisher, { topic, payload: '1', qos: 1 });
    await publish(publisher, { topic, payload: '2', qos: 2 });
    const { client } = await connect({ clientId, clean: false });
    expect((await expectMessage(client, '1')).qos).toBe(1);
    expect((await expectMessage(client, '2')).qos).toBe(2);
  });

  it('1 discards the session that was there, and its own with the connection [MQTT3-3.1.2-6] [MQTT3-3.2.2-1] [MQTT3-3.1.4-3]', async () => {
    const clientId = unique('clean');
    const topic = unique('clean');
    const first = await connect({ clientId, clean: false });
    await subscribe(first.client, topic, { qos: 1 });
    await first.client.disconnect();
    const second = await connect({ clientId, clean: true });
    expect(second.connack.sessionPresent).toBe(false);
    await publish((await connect()).client, { topic, payload: 'x', qos: 1 });
    await second.client.expectNothing();
    await second.client.disconnect();
    const third = await connect({ clientId, clean: false });
    expect(third.connack.sessionPresent).toBe(false);
    await third.client.expectNothing();
  });

  it('1 does not remove the retained messages of the session [MQTT3-3.1.2-7]', async () => {
    const topic = unique('retained');
    peers.forget(topic);
    const { client } = await connect();
    await publish(client, { topic, payload: 'stays', qos: 1, retain: true });
    await client.disconnect();
    await expectMessage(await peers.subscriber(topic), 'stays');
  });

  it('0 makes a session that a client of MQTT 5.0 can resume, and the other way round [MQTT-3.1.2-5]', async () => {
    const clientId = unique('upgrade');
    const topic = unique('upgrade');
    const staying = { clientId, clean: false, properties: { sessionExpiryInterval: 60 } };
    const old = await connect({ clientId, clean: false });
    await subscribe(old.client, topic, { qos: 1 });
    await old.client.disconnect();
    const modern = await peers.connect(staying);
    expect(modern.connack.sessionPresent).toBe(true);
    await publish((await connect()).client, { topic, payload: 'x', qos: 1 });
    await expectMessage(modern.client, 'x');
    await modern.client.disconnect();
    const oldAgain = await connect({ clientId, clean: false });
    expect(oldAgain.connack.sessionPresent).toBe(true);
    await expectMessage(oldAgain.client, 'x');
  });
});

describe('the will of MQTT 3.1.1', () => {
  it.each([0, 1, 2] as const)(
    'is published when the client vanishes, at QoS %i, not retained [MQTT3-3.1.2-8] [MQTT3-3.1.2-14] [MQTT3-3.1.2-16]',
    async (qos) => {
      const topic = unique('will');
      const watcher = await peers.subscriber(topic, 2);
      await (await testator(topic, { qos })).vanish();
      expect(await expectMessage(watcher, 'gone')).toMatchObject({ qos, retain: false });
      await (await peers.subscriber(topic)).expectNothing();
    },
  );

  it('is retained with Will Retain 1 [MQTT3-3.1.2-17]', async () => {
    const topic = unique('will');
    peers.forget(topic);
    const watcher = await peers.subscriber(topic);
    await (await testator(topic, { retain: true })).vanish();
    await expectMessage(watcher, 'gone');
    expect((await expectMessage(await peers.subscriber(topic), 'gone')).retain).toBe(true);
  });

  it('is not published after DISCONNECT [MQTT3-3.14.4-3] [MQTT3-3.1.2-10]', async () => {
    const topic = unique('will');
    const watcher = await peers.subscriber(topic);
    await (await testator(topic)).disconnect();
    await expectOnlyMarker(watcher, topic);
  });

  it('is published after a protocol violation [MQTT3-3.1.2-8] [MQTT3-4.8.0-1]', async () => {
    const topic = unique('will');
    const watcher = await peers.subscriber(topic);
    const client = await testator(topic);
    client.sendBytes('36 03 0001 61');
    await expectCloseWithoutPackets(client);
    await expectMessage(watcher, 'gone');
  });

  it('of an earlier connection does not serve a later one without the Will Flag [MQTT3-3.1.2-12] [MQTT3-3.1.2-10]', async () => {
    const topic = unique('will');
    const stored = { clientId: unique('later'), clean: false };
    const watcher = await peers.subscriber(topic);
    await (await testator(topic, {}, stored)).vanish();
    await expectMessage(watcher, 'gone');
    await (await connect(stored)).client.vanish();
    await expectOnlyMarker(watcher, topic);
  });
});

describe('a connection of MQTT 3.1.1', () => {
  it('gets PINGRESP for PINGREQ [MQTT3-3.12.4-1]', async () => {
    const { client } = await connect();
    client.sendBytes('c000');
    expect(client.bytesOf(await client.expect('pingresp'))).toEqual(Buffer.from([0xd0, 0]));
  });
});

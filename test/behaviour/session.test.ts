import { describe, expect, it } from 'vitest';
import type { RawClient } from '../support/raw-client.ts';
import { unique } from '../support/unique.ts';
import { brokerTime } from './raw/broker-time.ts';
import { expectMessage, type Fields, publish, subscribe, usePeers } from './raw/peers.ts';

const peers = usePeers();

/** A client identifier with the CONNECT that creates or resumes its session for a minute. */
function session(name: string) {
  const clientId = unique(name);
  const properties: Fields = { sessionExpiryInterval: 60 };
  return {
    create: () => peers.connect({ clientId, properties }),
    resume: (fields: Fields = {}) => peers.connect({ clientId, clean: false, properties, ...fields }),
    clientId,
  };
}

async function publisher() {
  return (await peers.connect()).client;
}

describe('Clean Start', () => {
  it('1 discards the session that was there [MQTT-3.1.2-4] [MQTT-3.1.4-4] [MQTT-3.2.2-2]', async () => {
    const { create, resume } = session('clean');
    const topic = unique('clean');
    const first = await create();
    await subscribe(first.client, topic, { qos: 1 });
    await first.client.disconnect();
    await publish(await publisher(), { topic, payload: 'queued', qos: 1 });

    const second = await create();
    expect(second.connack.sessionPresent).toBe(false);
    await publish(await publisher(), { topic, payload: 'live', qos: 1 });
    await second.client.expectNothing();
    await second.client.disconnect();
    const third = await resume();
    expect(third.connack.sessionPresent).toBe(true);
    await third.client.expectNothing();
  });

  it('0 resumes the session that is there [MQTT-3.1.2-5] [MQTT-3.2.2-3]', async () => {
    const { create, resume } = session('resume');
    const topic = unique('resume');
    const first = await create();
    await subscribe(first.client, topic, { qos: 1 });
    await first.client.disconnect();
    const { client, connack } = await resume();
    expect(connack.sessionPresent).toBe(true);
    await publish(await publisher(), { topic, payload: 'x' });
    await expectMessage(client, 'x');
  });

  it('0 creates a session where there is none [MQTT-3.1.2-6] [MQTT-3.2.2-3]', async () => {
    const { resume } = session('fresh');
    const first = await resume();
    expect(first.connack.reasonCode).toBe(0);
    expect(first.connack.sessionPresent).toBe(false);
    await first.client.disconnect();
    expect((await resume()).connack.sessionPresent).toBe(true);
  });
});

describe.concurrent('the Session Expiry Interval', () => {
  it.each([
    ['absent', {}],
    ['0', { sessionExpiryInterval: 0 }],
  ])('%s ends the session with its connection [MQTT-4.1.0-2]', async (_, properties) => {
    const clientId = unique('brief');
    const topic = unique('brief');
    const first = await peers.connect({ clientId, properties });
    await subscribe(first.client, topic, { qos: 1 });
    await first.client.disconnect();
    const { client, connack } = await peers.connect({ clientId, clean: false });
    expect(connack.sessionPresent).toBe(false);
    await publish(await publisher(), { topic, payload: 'x', qos: 1 });
    await client.expectNothing();
  });

  it('ends the session when it is over [MQTT-4.1.0-2]', async () => {
    const clientId = unique('second');
    const topic = unique('second');
    const first = await peers.connect({ clientId, properties: { sessionExpiryInterval: 1 } });
    await subscribe(first.client, topic, { qos: 1 });
    await first.client.vanish();
    await brokerTime(peers, 2);
    const { client, connack } = await peers.connect({ clientId, clean: false });
    expect(connack.sessionPresent).toBe(false);
    await publish(await publisher(), { topic, payload: 'x', qos: 1 });
    await client.expectNothing();
  });

  it('does not run while the connection is open [MQTT-4.1.0-1]', async () => {
    const clientId = unique('open');
    const topic = unique('open');
    const first = await peers.connect({ clientId, properties: { sessionExpiryInterval: 3 } });
    await subscribe(first.client, topic);
    await brokerTime(peers, 4);
    await publish(await publisher(), { topic, payload: 'x' });
    await expectMessage(first.client, 'x');
    await first.client.disconnect();
    const { connack } = await peers.connect({ clientId, clean: false });
    expect(connack.sessionPresent).toBe(true);
  });

  it('is that of the latest CONNECT: longer [MQTT-3.1.2-23]', async () => {
    const clientId = unique('latest');
    const first = await peers.connect({ clientId, properties: { sessionExpiryInterval: 3 } });
    await first.client.disconnect();
    const second = await peers.connect({ clientId, clean: false, properties: { sessionExpiryInterval: 60 } });
    expect(second.connack.sessionPresent).toBe(true);
    await second.client.vanish();
    await brokerTime(peers, 4);
    const { connack } = await peers.connect({ clientId, clean: false });
    expect(connack.sessionPresent).toBe(true);
  });

  it('is that of the latest CONNECT: 0 when absent [MQTT-4.1.0-2]', async () => {
    const { create, clientId } = session('latest');
    await (await create()).client.disconnect();
    const second = await peers.connect({ clientId, clean: false });
    expect(second.connack.sessionPresent).toBe(true);
    await second.client.disconnect();
    const { connack } = await peers.connect({ clientId, clean: false });
    expect(connack.sessionPresent).toBe(false);
  });
});

describe('retained messages that SUBACK has promised', () => {
  /** A client whose retained messages wait behind a message of its queue: its window has room for one. */
  async function waiting() {
    const { create, resume, clientId } = session('promised');
    const narrow = { properties: { sessionExpiryInterval: 60, receiveMaximum: 1 } };
    const [queued, kept] = [unique('queued'), unique('kept')];
    const topics = ['a', 'b'].map((name) => `${kept}/${name}`);
    const sender = await publisher();
    for (const topic of topics) {
      peers.forget(topic);
      await publish(sender, { topic, payload: topic, qos: 1, retain: true });
    }
    const { client } = await peers.connect({ clientId, ...narrow });
    await subscribe(client, queued, { qos: 1 });
    for (const payload of ['1', '2']) await publish(sender, { topic: queued, payload, qos: 1 });
    await expectMessage(client, '1');
    expect(await subscribe(client, `${kept}/+`)).toBe(0);
    await client.expectNothing();
    return { client, create, resume, narrow, kept, topics };
  }

  /** Takes the two messages of the queue, and these retained ones; their topics tell no order. */
  async function expectOnly(client: RawClient, topics: readonly string[]): Promise<void> {
    const payloads: string[] = [];
    for (const _ of ['1', '2', ...topics]) {
      const { payload, qos, messageId, retain } = await client.expect('publish');
      payloads.push(String(payload));
      expect(retain).toBe(qos === 0);
      if (qos === 1) client.send({ cmd: 'puback', messageId });
    }
    expect(payloads.sort()).toEqual(['1', '2', ...topics]);
    await client.expectNothing();
  }

  it.each<[string, (client: RawClient) => unknown]>([
    ['was cut', (client) => client.close()],
    ['has said DISCONNECT', (client) => client.disconnect()],
    ['is still there', () => undefined],
  ])('come to the connection that follows one that %s, and once', async (_name, end) => {
    const { client: first, resume, topics } = await waiting();
    await end(first);
    const { client, connack } = await resume();
    expect(connack.sessionPresent).toBe(true);
    await expectOnly(client, topics);
    await client.disconnect();
    await (await resume()).client.expectNothing();
  });

  it('come after two connections that took nothing', async () => {
    const { client: first, resume, narrow, topics } = await waiting();
    first.close();
    await (await resume(narrow)).client.disconnect();
    const { client } = await resume();
    await expectOnly(client, topics);
  });

  it('do not come if the subscription has ended, or the session', async () => {
    const { client: first, resume, kept } = await waiting();
    first.send({ cmd: 'unsubscribe', messageId: 9, unsubscriptions: [`${kept}/+`] });
    await first.expect('unsuback');
    await subscribe(first, `${kept}/+`, { rh: 2 });
    first.close();
    const { client } = await resume();
    await expectOnly(client, []);

    const other = await waiting();
    other.client.close();
    const anew = await other.create();
    expect(anew.connack.sessionPresent).toBe(false);
    await subscribe(anew.client, `${other.kept}/+`, { rh: 2 });
    await anew.client.expectNothing();
  });
});

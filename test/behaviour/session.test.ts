import { describe, expect, it } from 'vitest';
import type { RawClient } from '../support/raw-client.ts';
import { unique } from '../support/unique.ts';
import { brokerTime } from './raw/broker-time.ts';
import { expectMessage, type Fields, propertiesOf, publish, subscribe, usePeers } from './raw/peers.ts';

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

describe('a session without its connection', () => {
  it('gathers QoS 1 and QoS 2 messages in their order [MQTT-3.1.2-23] [MQTT-4.5.0-1] [MQTT-4.6.0-5]', async () => {
    const { create, resume } = session('away');
    const topic = unique('away');
    const first = await create();
    await subscribe(first.client, topic, { qos: 2 });
    await first.client.disconnect();
    const sender = await publisher();
    const payloads = ['1', '2', '3', '4', '5', '6'];
    for (const [index, payload] of payloads.entries()) {
      await publish(sender, { topic, payload, qos: 1 + (index % 2), messageId: index + 1 });
    }
    const { client } = await resume();
    for (const [index, payload] of payloads.entries()) {
      const message = await expectMessage(client, payload);
      expect(message.qos).toBe(1 + (index % 2));
      expect(message.dup).toBe(false);
    }
    await client.expectNothing();
  });

  it('keeps the options and identifiers of its subscriptions [MQTT-3.1.2-5]', async () => {
    const { create, resume } = session('options');
    const topic = unique('options');
    const first = await create();
    first.client.send({
      cmd: 'subscribe',
      messageId: 1,
      properties: { subscriptionIdentifier: 77 },
      subscriptions: [{ topic, qos: 1, nl: true, rap: true, rh: 2 }],
    });
    await first.client.expect('suback');
    await first.client.disconnect();
    peers.forget(topic);
    await publish(await publisher(), { topic, payload: 'kept', qos: 1, retain: true });
    const { client } = await resume();
    const message = await expectMessage(client, 'kept');
    expect(message.retain).toBe(true);
    expect([propertiesOf(message).subscriptionIdentifier].flat()).toEqual([77]);
    client.send({ cmd: 'puback', messageId: message.messageId });
    await publish(client, { topic, payload: 'my own', qos: 1 });
    await client.expectNothing();
  });

  it('keeps no subscription after UNSUBSCRIBE [MQTT-3.10.4-1]', async () => {
    const { create, resume } = session('less');
    const topic = unique('less');
    const first = await create();
    await subscribe(first.client, topic, { qos: 1 });
    first.client.send({ cmd: 'unsubscribe', messageId: 2, unsubscriptions: [topic] });
    await first.client.expect('unsuback');
    await first.client.disconnect();
    await publish(await publisher(), { topic, payload: 'x', qos: 1 });
    await (await resume()).client.expectNothing();
  });

  it('does not lose the retained messages that it published when it ends [MQTT-4.1.0-2]', async () => {
    const topic = unique('retained');
    peers.forget(topic);
    const { client } = await peers.connect();
    await publish(client, { topic, payload: 'stays', qos: 1, retain: true });
    await client.disconnect();
    const late = await peers.subscriber(topic);
    await expectMessage(late, 'stays');
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

describe('the exchanges under way when the connection broke', () => {
  it('QoS 1: is sent again with DUP and its packet identifier, until acknowledged [MQTT-4.4.0-1] [MQTT-3.3.1-1]', async () => {
    const { create, resume } = session('again');
    const topic = unique('again');
    const first = await create();
    await subscribe(first.client, topic, { qos: 1 });
    await publish(await publisher(), { topic, payload: 'x', qos: 1 });
    const unacknowledged = await expectMessage(first.client, 'x');
    await first.client.vanish();
    const second = await resume();
    const again = await expectMessage(second.client, 'x');
    expect(again).toMatchObject({ dup: true, messageId: unacknowledged.messageId });
    second.client.send({ cmd: 'puback', messageId: again.messageId });
    await second.client.expectNothing();
    await second.client.vanish();
    await (await resume()).client.expectNothing();
  });

  it('are sent again before messages that were queued meanwhile, in order [MQTT-4.4.0-1] [MQTT-4.6.0-5]', async () => {
    const { create, resume } = session('order');
    const topic = unique('order');
    const first = await create();
    await subscribe(first.client, topic, { qos: 1 });
    const sender = await publisher();
    await publish(sender, { topic, payload: '1', qos: 1 });
    await publish(sender, { topic, payload: '2', qos: 1 });
    await expectMessage(first.client, '1');
    await expectMessage(first.client, '2');
    await first.client.disconnect();
    await publish(sender, { topic, payload: '3', qos: 1 });
    const second = await resume();
    expect((await expectMessage(second.client, '1')).dup).toBe(true);
    expect((await expectMessage(second.client, '2')).dup).toBe(true);
    expect((await expectMessage(second.client, '3')).dup).toBe(false);
  });

  it('QoS 2 to the client: PUBLISH is sent again until PUBREC, then PUBREL until PUBCOMP [MQTT-4.4.0-1] [MQTT-4.3.3-6]', async () => {
    const { create, resume } = session('twice');
    const topic = unique('twice');
    const first = await create();
    await subscribe(first.client, topic, { qos: 2 });
    await publish(await publisher(), { topic, payload: 'x', qos: 2 });
    const { messageId } = await expectMessage(first.client, 'x');
    await first.client.vanish();

    const second = await resume();
    expect(await expectMessage(second.client, 'x')).toMatchObject({ dup: true, qos: 2, messageId });
    second.client.send({ cmd: 'pubrec', messageId });
    expect((await second.client.expect('pubrel')).messageId).toBe(messageId);
    await second.client.vanish();

    const third = await resume();
    expect((await third.client.expect('pubrel')).messageId).toBe(messageId);
    third.client.send({ cmd: 'pubcomp', messageId });
    await third.client.expectNothing();
    await third.client.vanish();
    await (await resume()).client.expectNothing();
  });

  it('QoS 2 from the client: the packet identifier is remembered, and the message comes once [MQTT-4.3.3-10] [MQTT-4.1.0-1]', async () => {
    const { create, resume } = session('inbound');
    const topic = unique('inbound');
    const watcher = await peers.subscriber(topic);
    const first = await create();
    const message = { cmd: 'publish', topic, payload: 'x', qos: 2, messageId: 9 };
    first.client.send(message);
    await first.client.expect('pubrec');
    await first.client.vanish();

    const second = await resume();
    second.client.send({ ...message, dup: true });
    await second.client.expect('pubrec');
    second.client.send({ cmd: 'pubrel', messageId: 9 });
    await second.client.expect('pubcomp');
    await expectMessage(watcher, 'x');
    await watcher.expectNothing();
  });

  it('are discarded with the session: after Clean Start 1 no message is sent again [MQTT-3.1.2-4] [MQTT-4.4.0-1]', async () => {
    const { create } = session('discard');
    const topic = unique('discard');
    const first = await create();
    await subscribe(first.client, topic, { qos: 2 });
    await publish(await publisher(), { topic, payload: 'x', qos: 2 });
    await expectMessage(first.client, 'x');
    await first.client.vanish();
    await (await create()).client.expectNothing();
  });
});

describe('many sessions', () => {
  it('each gather their own copy [MQTT-4.5.0-1] [MQTT-3.1.3-2]', async () => {
    const topic = unique('many');
    const sessions = [session('many'), session('many'), session('many')];
    for (const { create } of sessions) {
      const { client } = await create();
      await subscribe(client, topic, { qos: 1 });
      await client.disconnect();
    }
    await publish(await publisher(), { topic, payload: 'x', qos: 1 });
    for (const { resume } of sessions) {
      const { client } = await resume();
      await expectMessage(client, 'x');
      await client.expectNothing();
    }
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

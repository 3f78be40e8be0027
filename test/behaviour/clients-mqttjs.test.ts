import type { IClientOptions, IConnackPacket, IPublishPacket, MqttClient } from 'mqtt';
import { afterEach, describe, expect, test } from 'vitest';
import { connectMqttJs } from '../support/mqttjs.ts';
import { differsAt } from '../support/only-at.ts';
import { unique } from '../support/unique.ts';
import { useDoor } from './util/door-fixture.ts';
import { Inbox } from './util/inbox.ts';

const door = useDoor();

interface Arrival {
  readonly topic: string;
  readonly payload: string;
  readonly packet: IPublishPacket;
}

interface Client {
  readonly mqtt: MqttClient;
  readonly arrivals: Inbox<Arrival>;
  readonly sessionPresent: boolean;
}

const clients: MqttClient[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) await client.endAsync(true);
});

/** A stock mqtt.js client that is connected; what it receives is kept from the first moment. */
async function open(options: IClientOptions = {}): Promise<Client> {
  const mqtt = connectMqttJs(door.url, { reconnectPeriod: 0, clientId: unique('js'), ...options });
  clients.push(mqtt);
  const arrivals = new Inbox<Arrival>();
  mqtt.on('message', (topic, payload, packet) =>
    arrivals.push({ topic, payload: payload.toString(), packet }),
  );
  const { sessionPresent } = await connected(mqtt);
  return { mqtt, arrivals, sessionPresent };
}

const connected = (mqtt: MqttClient): Promise<IConnackPacket> =>
  new Promise((resolve, reject) => {
    mqtt.once('connect', resolve);
    mqtt.once('error', reject);
  });

/** Cuts the connection as a lost network does: without DISCONNECT. */
async function cut({ mqtt }: Client): Promise<void> {
  const closed = new Promise<void>((resolve) => mqtt.once('close', resolve));
  mqtt.stream.destroy();
  await closed;
}

for (const protocolVersion of [4, 5] as const) {
  describe(`mqtt.js with MQTT ${protocolVersion === 4 ? '3.1.1' : '5.0'}`, () => {
    const version = { protocolVersion };

    /** Options of a session that outlives its connection. */
    const lasting = (clientId: string): IClientOptions => ({
      ...version,
      clientId,
      clean: false,
      ...(protocolVersion === 5 && { properties: { sessionExpiryInterval: 60 } }),
    });

    for (const qos of [0, 1, 2] as const) {
      test(`publishes and receives at QoS ${qos}, in order`, async () => {
        const topic = unique('t');
        const [subscriber, publisher] = [await open(version), await open(version)];
        const granted = await subscriber.mqtt.subscribeAsync(`${topic}/+`, { qos });
        expect(granted).toMatchObject([{ topic: `${topic}/+`, qos }]);
        const sent = Array.from({ length: 15 }, (_, index) => `${index}`);
        await Promise.all(sent.map((payload) => publisher.mqtt.publishAsync(`${topic}/a`, payload, { qos })));
        const received = await subscriber.arrivals.take(sent.length);
        expect(received.map(({ payload }) => payload)).toEqual(sent);
        expect(received.every(({ packet }) => packet.qos === qos && !packet.dup && !packet.retain)).toBe(
          true,
        );
      });
    }

    test('has its will published when it is cut off, and not after it ends', async () => {
      const topic = unique('t');
      const watcher = await open(version);
      await watcher.mqtt.subscribeAsync(`${topic}/#`, { qos: 1 });
      const will = (name: string) =>
        ({ topic: `${topic}/${name}`, payload: Buffer.from(name), qos: 1, retain: false }) as const;
      const polite = await open({ ...version, will: will('polite') });
      const lost = await open({ ...version, will: will('lost') });
      await polite.mqtt.endAsync();
      await cut(lost);
      expect(await watcher.arrivals.next()).toMatchObject({ topic: `${topic}/lost`, payload: 'lost' });
      expect(watcher.arrivals.size).toBe(0);
    });

    test('finds its session again: subscription and the messages that waited', async () => {
      const topic = unique('t');
      const clientId = unique('js');
      const before = await open(lasting(clientId));
      await before.mqtt.subscribeAsync(topic, { qos: 2 });
      await before.mqtt.endAsync();
      const publisher = await open(version);
      for (const qos of [1, 2] as const) await publisher.mqtt.publishAsync(topic, `waited ${qos}`, { qos });
      const after = await open(lasting(clientId));
      expect(after.sessionPresent).toBe(true);
      const waited = await after.arrivals.take(2);
      expect(waited.map(({ payload }) => payload)).toEqual(['waited 1', 'waited 2']);
      await publisher.mqtt.publishAsync(topic, 'live', { qos: 1 });
      expect(await after.arrivals.next()).toMatchObject({ payload: 'live' });
    });

    test('reconnects by itself after a cut and goes on', async () => {
      const topic = unique('t');
      const subscriber = await open({ ...lasting(unique('js')), reconnectPeriod: 20 });
      await subscriber.mqtt.subscribeAsync(topic, { qos: 1 });
      const again = connected(subscriber.mqtt);
      await cut(subscriber);
      await (await open(version)).mqtt.publishAsync(topic, 'meanwhile', { qos: 1 });
      expect((await again).sessionPresent).toBe(true);
      expect(await subscriber.arrivals.next()).toMatchObject({ payload: 'meanwhile' });
    });

    test('ends cleanly', async () => {
      const client = await open(version);
      const errors: unknown[] = [];
      client.mqtt.on('error', (error) => errors.push(error));
      await client.mqtt.publishAsync(unique('t'), 'x', { qos: 1 });
      await client.mqtt.endAsync();
      expect(client.mqtt.connected).toBe(false);
      expect(errors).toEqual([]);
    });
  });
}

describe('mqtt.js with the new features of MQTT 5.0', () => {
  const version = { protocolVersion: 5 } as const;

  test('asks a question and gets its answer by Response Topic and Correlation Data', async () => {
    const topic = unique('t');
    const [asker, answerer] = [await open(version), await open(version)];
    await answerer.mqtt.subscribeAsync(`${topic}/question`, { qos: 1 });
    answerer.mqtt.on('message', (_topic, payload, { properties }) => {
      const { responseTopic = '', correlationData = Buffer.alloc(0) } = properties ?? {};
      const answer = {
        qos: 1,
        properties: { correlationData, userProperties: { answered: 'yes' } },
      } as const;
      answerer.mqtt.publish(responseTopic, `${payload}!`, answer);
    });
    const responseTopic = `${topic}/answer`;
    await asker.mqtt.subscribeAsync(responseTopic, { qos: 1 });
    const correlationData = Buffer.from([0, 1, 255]);
    await asker.mqtt.publishAsync(`${topic}/question`, 'well', {
      qos: 1,
      properties: { responseTopic, correlationData },
    });
    const { payload, packet } = await asker.arrivals.next();
    expect(payload).toBe('well!');
    expect(packet.properties).toMatchObject({ correlationData, userProperties: { answered: 'yes' } });
  });

  test('assigns topic aliases by itself, and the topics arrive in full', async () => {
    const topic = unique('t');
    const subscriber = await open(version);
    await subscriber.mqtt.subscribeAsync(`${topic}/#`, { qos: 1 });
    const publisher = await open({ ...version, autoAssignTopicAlias: true });
    const sentTopics: string[] = [];
    publisher.mqtt.on('packetsend', (packet) => {
      if (packet.cmd === 'publish') sentTopics.push(packet.topic);
    });
    const names = ['a', 'b', 'a', 'a', 'b'].map((name) => `${topic}/${name}`);
    for (const name of names) await publisher.mqtt.publishAsync(name, 'x', { qos: 1 });
    const received = await subscriber.arrivals.take(names.length);
    expect(received.map((arrival) => arrival.topic)).toEqual(names);
    expect(sentTopics.filter((sent) => sent === '')).toHaveLength(
      differsAt('gateway', 'it takes no alias') ? 0 : 3,
    );
  });

  test('resolves the aliases that the broker assigns', async () => {
    const topic = unique('t');
    const subscriber = await open({ ...version, properties: { topicAliasMaximum: 2 } });
    await subscriber.mqtt.subscribeAsync(`${topic}/#`, { qos: 1 });
    const publisher = await open(version);
    const names = ['a', 'b', 'c', 'a', 'b', 'c'].map((name) => `${topic}/${name}`);
    for (const name of names) await publisher.mqtt.publishAsync(name, 'x', { qos: 1 });
    const received = await subscriber.arrivals.take(names.length);
    expect(received.map((arrival) => arrival.topic)).toEqual(names);
  });

  test('receives everything within its Receive Maximum', async () => {
    const topic = unique('t');
    const subscriber = await open({ ...version, properties: { receiveMaximum: 3 } });
    await subscriber.mqtt.subscribeAsync(topic, { qos: 2 });
    const publisher = await open(version);
    const sent = Array.from({ length: 15 }, (_, index) => `${index}`);
    await Promise.all(sent.map((payload) => publisher.mqtt.publishAsync(topic, payload, { qos: 2 })));
    expect((await subscriber.arrivals.take(sent.length)).map(({ payload }) => payload)).toEqual(sent);
  });
});

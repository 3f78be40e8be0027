import { ReasonCode } from '@apus/mqtt';
import { describe, expect, test } from 'vitest';
import { notInACluster } from '../support/only-at.ts';
import { unique } from '../support/unique.ts';
import { useDoor } from './util/door-fixture.ts';
import type { Message, TestClient } from './util/test-client.ts';

const { NoSubscriptionExisted, ProtocolError, Success, TopicFilterInvalid } = ReasonCode;

const door = useDoor();

type QoS = 0 | 1 | 2;

/** Clients that share one subscription, and what they receive. */
class Group {
  readonly members: TestClient[];

  constructor(members: TestClient[]) {
    this.members = members;
  }

  static async of(size: number, filter: string, qos: QoS = 1): Promise<Group> {
    const members: TestClient[] = [];
    while (members.length < size) {
      const member = await door.connect();
      expect(await member.subscribe(filter, { qos })).toEqual([qos]);
      members.push(member);
    }
    return new Group(members);
  }

  /** The messages that each member has received and acknowledged. Call it when the publisher has its PUBACK. */
  async received(): Promise<Message[][]> {
    const all: Message[][] = [];
    for (const member of this.members) all.push(await receivedBy(member));
    return all;
  }
}

/** Everything that is on its way to a client, acknowledged. A PINGREQ marks the end. */
async function receivedBy(client: TestClient): Promise<Message[]> {
  await client.ping();
  const messages: Message[] = [];
  for (;;) {
    const message = client.takeEarly();
    if (message === undefined) return messages;
    await client.acknowledge(message);
    messages.push(message);
  }
}

async function publishNumbers(topic: string, count: number, qos: QoS = 1): Promise<string[]> {
  const publisher = await door.connect();
  const payloads = Array.from({ length: count }, (_, index) => `${index}`);
  for (const payload of payloads) await publisher.publish(topic, payload, { qos });
  return payloads;
}

const byNumber = (a: string, b: string) => Number(a) - Number(b);

describe('A shared subscription', () => {
  for (const qos of [0, 1, 2] as const) {
    const options =
      qos === 0 ? notInACluster('a PINGREQ does not wait for messages at QoS 0 of other processes') : {};
    test(
      `gives each message to one member, and every member its part, QoS ${qos} [MQTT-4.8.2-1] [MQTT-4.8.2-3]`,
      options,
      async () => {
        const topic = unique('t');
        const group = await Group.of(3, `$share/g/${topic}`, qos);
        const sent = await publishNumbers(topic, 60, qos);
        const received = await group.received();
        const payloads = received.flatMap((messages) => messages.map(({ payload }) => payload));
        expect(payloads.sort(byNumber)).toEqual(sent);
        for (const messages of received) {
          expect(messages.length).toBeGreaterThanOrEqual(5);
          expect(messages.every((message) => message.qos === qos && message.topic === topic)).toBe(true);
        }
      },
    );
  }

  test('serves each member at its own QoS [MQTT-4.8.2-3]', async () => {
    const topic = unique('t');
    const filter = `$share/g/${topic}`;
    const [low, high] = [await door.connect(), await door.connect()];
    await low.subscribe(filter, { qos: 0 });
    await high.subscribe(filter, { qos: 2 });
    await publishNumbers(topic, 20, 2);
    const [toLow, toHigh] = await new Group([low, high]).received();
    expect(toLow?.length).toBeGreaterThan(0);
    expect(toHigh?.length).toBeGreaterThan(0);
    expect(toLow?.every(({ qos }) => qos === 0)).toBe(true);
    expect(toHigh?.every(({ qos }) => qos === 2)).toBe(true);
  });

  test('may have wildcards, and its filter is the part behind the share name [MQTT-4.8.2-1] [MQTT-4.8.2-2]', async () => {
    const topic = unique('t');
    const group = await Group.of(2, `$share/g/${topic}/+/x/#`);
    const publisher = await door.connect();
    for (const name of ['a/x', 'a/x/y', 'a/y', 'b/x'])
      await publisher.publish(`${topic}/${name}`, name, { qos: 1 });
    const payloads = (await group.received()).flat().map(({ payload }) => payload);
    expect(payloads.sort()).toEqual(['a/x', 'a/x/y', 'b/x']);
  });

  test('may begin with a slash: $share/g//t is the filter /t [MQTT-4.8.2-2] [MQTT-4.7.3-4]', async () => {
    const topic = unique('t');
    const group = await Group.of(1, `$share/g//${topic}`);
    const publisher = await door.connect();
    await publisher.publish(topic, 'without', { qos: 1 });
    await publisher.publish(`/${topic}`, 'with', { qos: 1 });
    expect((await group.received()).flat().map(({ payload }) => payload)).toEqual(['with']);
  });

  test('is separate for each share name and each filter: every group gets its copy [MQTT-4.8.2-1]', async () => {
    const topic = unique('t');
    const groups = [
      await Group.of(2, `$share/one/${topic}`),
      await Group.of(2, `$share/two/${topic}`),
      await Group.of(2, `$share/one/${topic}/#`),
    ];
    const sent = await publishNumbers(topic, 10);
    for (const group of groups) {
      const payloads = (await group.received()).flat().map(({ payload }) => payload);
      expect(payloads.sort(byNumber)).toEqual(sent);
    }
  });

  test('leaves plain subscribers alone: each of them gets every message [MQTT-4.5.0-1]', async () => {
    const topic = unique('t');
    const group = await Group.of(2, `$share/g/${topic}`);
    const plain = await door.connect();
    await plain.subscribe(topic, { qos: 1 });
    const sent = await publishNumbers(topic, 10);
    const shared = (await group.received()).flat().map(({ payload }) => payload);
    expect(shared.sort(byNumber)).toEqual(sent);
    expect((await receivedBy(plain)).map(({ payload }) => payload)).toEqual(sent);
  });

  test('and a plain one of the same client are two: the message comes by both [MQTT-3.3.4-3]', async () => {
    const topic = unique('t');
    const client = await door.connect();
    await client.subscribe(`$share/g/${topic}`, { qos: 1, identifier: 1 });
    await client.subscribe(topic, { qos: 1, identifier: 2 });
    await publishNumbers(topic, 1);
    const identifiers = (await receivedBy(client)).flatMap(
      ({ properties }) => properties.subscriptionIdentifier,
    );
    expect(identifiers.sort()).toEqual([1, 2]);
  });

  test('carries the Subscription Identifier of the member that was chosen [MQTT-3.3.4-3]', async () => {
    const topic = unique('t');
    const members = [await door.connect(), await door.connect()];
    for (const [index, member] of members.entries()) {
      await member.subscribe(`$share/g/${topic}`, { qos: 1, identifier: index + 1 });
    }
    await publishNumbers(topic, 10);
    const received = await new Group(members).received();
    for (const [index, messages] of received.entries()) {
      for (const { properties } of messages)
        expect(properties).toEqual({ subscriptionIdentifier: index + 1 });
    }
  });

  test('sends no retained messages to its first member, to further ones, or when a member subscribes again', async () => {
    const topic = unique('t');
    const publisher = await door.connect();
    await publisher.publish(topic, 'kept', { qos: 1, retain: true });
    for (const rh of [0, 1] as const) {
      const member = await door.connect();
      await member.subscribe(`$share/g/${topic}`, { qos: 1, rh });
      await member.subscribe(`$share/g/${topic}`, { qos: 1, rh });
      await member.expectNothing();
    }
    await publisher.publish(topic, '', { retain: true });
  });

  test('that one client has made twice ends with one UNSUBSCRIBE [MQTT-3.10.4-1]', async () => {
    const topic = unique('t');
    const filter = `$share/g/${topic}`;
    const [leaver, stayer] = [await door.connect(), await door.connect()];
    for (const client of [leaver, leaver, stayer]) await client.subscribe(filter, { qos: 1 });
    expect(await leaver.unsubscribe(topic)).toEqual([NoSubscriptionExisted]);
    expect(await leaver.unsubscribe(filter)).toEqual([Success]);
    expect(await leaver.unsubscribe(filter)).toEqual([NoSubscriptionExisted]);
    const sent = await publishNumbers(topic, 5);
    await leaver.expectNothing();
    expect((await receivedBy(stayer)).map(({ payload }) => payload)).toEqual(sent);
  });

  test('made again takes the new QoS [MQTT-4.8.2-3]', async () => {
    const topic = unique('t');
    const group = await Group.of(1, `$share/g/${topic}`, 2);
    await group.members[0]?.subscribe(`$share/g/${topic}`, { qos: 0 });
    await publishNumbers(topic, 1, 2);
    expect((await group.received()).flat().map(({ qos }) => qos)).toEqual([0]);
  });

  test('works in MQTT 3.1.1 too, beside members with MQTT 5.0', async () => {
    const topic = unique('t');
    const classic = await door.connect311();
    await classic.subscribe(`$share/g/${topic}`, { qos: 1 });
    const group = await Group.of(1, `$share/g/${topic}`);
    const sent = await publishNumbers(topic, 20);
    const received = await new Group([classic, ...group.members]).received();
    expect(received.every((messages) => messages.length > 0)).toBe(true);
    const payloads = received.flat().map(({ payload }) => payload);
    expect(payloads.sort(byNumber)).toEqual(sent);
  });
});

describe('A shared subscription is refused', () => {
  test('with No Local: a Protocol Error [MQTT-3.8.3-4]', async () => {
    const client = await door.connect();
    client.raw.send({
      cmd: 'subscribe',
      messageId: 1,
      subscriptions: [{ topic: `$share/g/${unique('t')}`, qos: 0, nl: true }],
    });
    await client.expectRefused(ProtocolError);
  });

  /** 0x8F for the filter, and the valid filter beside it is granted. */
  async function expectInvalid(filter: string): Promise<void> {
    const client = await door.connect();
    expect(await client.subscribe([filter, unique('t')])).toEqual([TopicFilterInvalid, 0]);
  }

  test('without a share name: 0x8F [MQTT-4.8.2-1]', () => expectInvalid('$share//t'));

  for (const filter of ['$share/g+/t', '$share/g#/t', '$share/+/t', '$share/#/t']) {
    test(`with a wildcard in its share name: ${filter} gets 0x8F [MQTT-4.8.2-2]`, () =>
      expectInvalid(filter));
  }

  for (const filter of ['$share/g', '$share/g/', '$share/']) {
    test(`without a filter after the share name: ${filter} gets 0x8F [MQTT-4.8.2-2]`, () =>
      expectInvalid(filter));
  }

  for (const filter of ['$share/g/a/#/b', '$share/g/a+']) {
    test(`with an invalid filter after the share name: ${filter} gets 0x8F [MQTT-4.7.1-1] [MQTT-4.7.1-2]`, () =>
      expectInvalid(filter));
  }
});

describe('A shared subscription whose members come and go', () => {
  /** A group of one member with a session that stays, which holds an unacknowledged message, and one other member. */
  async function withUnacknowledged(qos: 1 | 2) {
    const topic = unique('t');
    const filter = `$share/g/${topic}`;
    const clientId = unique('c');
    const holder = await door.resume(clientId);
    await holder.subscribe(filter, { qos });
    await publishNumbers(topic, 1, qos);
    const message = await holder.receiveUnacknowledged();
    const other = await door.connect();
    await other.subscribe(filter, { qos });
    return { topic, clientId, holder, message, other };
  }

  test('goes on with the members that are left', async () => {
    const topic = unique('t');
    const group = await Group.of(3, `$share/g/${topic}`);
    const [gone, ...left] = group.members;
    await gone?.disconnect();
    const sent = await publishNumbers(topic, 12);
    const payloads = (await new Group(left).received()).flat().map(({ payload }) => payload);
    expect(payloads.sort(byNumber)).toEqual(sent);
  });

  test('prefers members that are connected to a session that is offline', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const offline = await door.resume(clientId);
    await offline.subscribe(`$share/g/${topic}`, { qos: 1 });
    await offline.disconnect();
    const group = await Group.of(1, `$share/g/${topic}`);
    const sent = await publishNumbers(topic, 10);
    expect((await group.received()).flat().map(({ payload }) => payload)).toEqual(sent);
  });

  test('loses no message at QoS 1 while all its members are offline [MQTT-4.5.0-1]', async () => {
    const topic = unique('t');
    const clientId = unique('c');
    const before = await door.resume(clientId);
    await before.subscribe(`$share/g/${topic}`, { qos: 1 });
    await before.disconnect();
    const sent = await publishNumbers(topic, 5);
    const after = await door.resume(clientId);
    expect((await after.receiveMany(5)).map(({ payload }) => payload)).toEqual(sent);
  });

  test('gives a QoS 1 message that a member has not acknowledged to another when the member’s session ends', async () => {
    const { clientId, holder, other } = await withUnacknowledged(1);
    await holder.disconnect({ sessionExpiryInterval: 0 });
    const message = await other.receive();
    expect(message).toMatchObject({ payload: '0', qos: 1 });
    await other.expectNothing();
    await (await door.resume(clientId)).expectNothing();
  });

  test('gives it to another also when a clean start ends the member’s session', async () => {
    const { clientId, holder, other } = await withUnacknowledged(1);
    await holder.raw.vanish();
    await door.connect({ clientId, clean: true });
    expect(await other.receive()).toMatchObject({ payload: '0', qos: 1 });
    await other.expectNothing();
  });

  test('finishes a QoS 2 delivery with the member that had begun it [MQTT-4.8.2-4]', async () => {
    const { clientId, holder, message, other } = await withUnacknowledged(2);
    await holder.raw.vanish();
    const after = await door.resume(clientId);
    expect(await after.receive()).toMatchObject({ payload: '0', dup: true, messageId: message.messageId });
    await other.expectNothing();
  });

  test('gives a QoS 2 message that a member has been sent to no other member when its session ends [MQTT-4.8.2-5]', async () => {
    const { topic, clientId, holder, other } = await withUnacknowledged(2);
    await holder.disconnect({ sessionExpiryInterval: 0 });
    const after = await door.resume(clientId);
    expect(after.connack.sessionPresent).toBe(false);
    await after.expectNothing();
    await (await door.connect()).publish(topic, 'marker', { qos: 2 });
    expect(await other.receive()).toMatchObject({ payload: 'marker' });
    await other.expectNothing();
  });

  for (const qos of [1, 2] as const) {
    test(`discards a message that a member refuses at QoS ${qos} [MQTT-4.8.2-6]`, async () => {
      const { holder, message, other } = await withUnacknowledged(qos);
      const cmd = qos === 1 ? 'puback' : 'pubrec';
      holder.raw.send({ cmd, messageId: message.messageId, reasonCode: 0x83 });
      await holder.expectNothing();
      await other.expectNothing();
    });
  }

  test('does not load a member beyond its Receive Maximum [MQTT-3.3.4-9]', async () => {
    const topic = unique('t');
    const member = await door.connect({ properties: { receiveMaximum: 2 } });
    await member.subscribe(`$share/g/${topic}`, { qos: 1 });
    const sent = await publishNumbers(topic, 5);
    const received: string[] = [];
    let held = await member.receiveMany(2);
    await member.expectNothing();
    while (held.length > 0) {
      for (const message of held) await member.acknowledge(message);
      received.push(...held.map(({ payload }) => payload));
      held = await member.receiveMany(Math.min(2, sent.length - received.length));
    }
    expect(received).toEqual(sent);
  });
});

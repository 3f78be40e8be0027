import { describe, expect, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';
import { nodeForTest } from './support/nodes.ts';

type Fields = Record<string, unknown>;

/** A client with a subscription, and another that publishes. */
async function pair(url: string, properties: Fields, subscribeProperties: Fields = {}) {
  const { client: subscriber } = await RawClient.connect(url, { properties });
  subscriber.send({
    cmd: 'subscribe',
    messageId: 1,
    subscriptions: [{ topic: '#', qos: 2 }],
    properties: subscribeProperties,
  });
  await subscriber.expect('suback');
  const { client: publisher } = await RawClient.connect(url);
  const publish = (topic: string, fields: Fields = {}): void =>
    publisher.send({ cmd: 'publish', topic, payload: 'x', qos: 0, ...fields });
  return { subscriber, publisher, publish };
}

describe('topic aliases towards the client', () => {
  test('stay within its Topic Alias Maximum, first come first served [MQTT-3.1.2-26] [MQTT-3.3.2-11]', async () => {
    const node = await nodeForTest();
    const { subscriber, publish } = await pair(node.url, { topicAliasMaximum: 2 });
    for (const topic of ['one', 'two', 'three', 'one', 'two', 'three']) publish(topic);
    const received = [];
    for (let left = 6; left > 0; left -= 1) {
      const { topic, properties } = await subscriber.expect('publish');
      received.push([topic, (properties as Fields | undefined)?.topicAlias]);
    }
    expect(received).toEqual([
      ['one', 1],
      ['two', 2],
      ['three', undefined],
      ['', 1],
      ['', 2],
      ['three', undefined],
    ]);
  });

  test('are not used with a client that allows none [MQTT-3.1.2-27]', async () => {
    const node = await nodeForTest();
    const { subscriber, publish } = await pair(node.url, {});
    publish('one');
    publish('one');
    for (const _ of [1, 2]) expect(await subscriber.expect('publish')).toMatchObject({ topic: 'one' });
  });

  test('do not keep away a message that fits only without one [MQTT-3.1.2-24]', async () => {
    const node = await nodeForTest();
    // CONNACK is small enough; a PUBLISH of "t" has 6 bytes beside its payload, and an alias adds 3.
    const { subscriber, publish } = await pair(node.url, { topicAliasMaximum: 1, maximumPacketSize: 100 });
    publish('t', { payload: 'x'.repeat(94) });
    const first = await subscriber.expect('publish');
    expect(first).toMatchObject({ topic: 't', length: 98 });
    publish('t', { payload: 'x'.repeat(95) });
    publish('t', { payload: 'x'.repeat(91) });
    expect(await subscriber.expect('publish')).toMatchObject({ topic: 't', properties: { topicAlias: 1 } });
    // Known by now, the alias costs 3 bytes and saves 1.
    publish('t', { payload: 'x'.repeat(92) });
    expect(await subscriber.expect('publish')).toMatchObject({ topic: '', properties: { topicAlias: 1 } });
  });
});

test('a message one byte over the Maximum Packet Size is not sent, and those behind it are [MQTT-3.1.2-24] [MQTT-3.1.2-25]', async () => {
  const node = await nodeForTest();
  const { subscriber, publisher, publish } = await pair(node.url, {
    maximumPacketSize: 100,
    receiveMaximum: 1,
  });
  publish('t', { payload: 'x'.repeat(93), qos: 1, messageId: 1 });
  await publisher.expect('puback');
  publish('t', { payload: 'x'.repeat(92), qos: 1, messageId: 2 });
  expect(await subscriber.expect('publish')).toMatchObject({ length: 98, qos: 1 });
});

test('the Message Expiry Interval is what remains when the message is sent [MQTT-3.3.2-6]', async () => {
  const clock = new FakeScheduler();
  const node = await nodeForTest({ clock });
  const { client: publisher } = await RawClient.connect(node.url);
  publisher.send({
    cmd: 'publish',
    topic: 't',
    payload: 'x',
    qos: 0,
    retain: true,
    properties: { messageExpiryInterval: 60 },
  });
  await publisher.expectNothing();
  clock.advance(20_500);
  publisher.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 't', qos: 0 }] });
  await publisher.expect('suback');
  expect(await publisher.expect('publish')).toMatchObject({ properties: { messageExpiryInterval: 40 } });
});

test('recipients of one message each get their own packet id, QoS, version and identifiers', async () => {
  const node = await nodeForTest();
  const { subscriber, publish } = await pair(node.url, {}, { subscriptionIdentifier: 5 });
  const { client: older } = await RawClient.connect(node.url, { protocolVersion: 4 });
  older.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 't', qos: 1 }] });
  await older.expect('suback');
  publish('u', { qos: 1, messageId: 1 });
  publish('t', { qos: 1, messageId: 2 });
  expect(await subscriber.expect('publish')).toMatchObject({
    messageId: 1,
    properties: { subscriptionIdentifier: 5 },
  });
  expect(await subscriber.expect('publish')).toMatchObject({ messageId: 2, topic: 't' });
  const toOlder = await older.expect('publish');
  expect(toOlder).toMatchObject({ messageId: 1, topic: 't', qos: 1 });
  expect(older.bytesOf(toOlder).toString('hex')).toBe('3206000174000178');
});

import { describe, expect, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
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

import { describe, expect, it } from 'vitest';
import type { RawClient } from '../support/raw-client.ts';
import { unique } from '../support/unique.ts';
import { expectMessage, type Fields, propertiesOf, publish, subscribe, usePeers } from './raw/peers.ts';

const peers = usePeers();

/** A payload that makes a PUBLISH at QoS 1 without properties exactly this long. */
function payloadFor(topic: string, packetBytes: number): string {
  const fixedHeaderBytes = packetBytes > 129 ? 3 : 2;
  const topicBytes = 2 + topic.length;
  const packetIdBytes = 2;
  const propertyLengthBytes = 1;
  return 'x'.repeat(packetBytes - fixedHeaderBytes - topicBytes - packetIdBytes - propertyLengthBytes);
}

describe("the client's Maximum Packet Size", () => {
  const small = { maximumPacketSize: 100 };

  it('lets a message of that size through, and not one that is a byte larger [MQTT-3.1.2-24]', async () => {
    const topic = unique('size');
    const { client } = await peers.connect({ properties: small });
    await subscribe(client, topic, { qos: 1 });
    const { client: publisher } = await peers.connect();
    await publish(publisher, { topic, payload: payloadFor(topic, 101), qos: 1 });
    await publish(publisher, { topic, payload: payloadFor(topic, 100), qos: 1 });
    const message = await client.expect('publish');
    expect(client.bytesOf(message).length).toBe(100);
    await client.expectNothing();
  });

  it.each([0, 1, 2] as const)(
    'discards a larger message as if it had been delivered, at QoS %i [MQTT-3.1.2-25]',
    async (qos) => {
      const topic = unique('large');
      const { client } = await peers.connect({ properties: { ...small, receiveMaximum: 1 } });
      await subscribe(client, topic, { qos });
      const { client: publisher } = await peers.connect();
      await publish(publisher, { topic, payload: 'x'.repeat(200), qos });
      await publish(publisher, { topic, payload: 'fits', qos });
      await expectMessage(client, 'fits');
      await client.expectNothing();
    },
  );

  it('does not keep the message from others [MQTT-3.1.2-25]', async () => {
    const topic = unique('large');
    const other = await peers.subscriber(topic, 1);
    const { client } = await peers.connect({ properties: small });
    await subscribe(client, topic, { qos: 1 });
    const payload = 'x'.repeat(200);
    await publish((await peers.connect()).client, { topic, payload, qos: 1 });
    await expectMessage(other, payload);
    await client.expectNothing();
  });

  it('applies to messages that waited in the session, too [MQTT-3.1.2-24] [MQTT-3.1.2-25]', async () => {
    const topic = unique('queued');
    const session = { clientId: unique('queued'), properties: { sessionExpiryInterval: 60 } };
    const first = await peers.connect(session);
    await subscribe(first.client, topic, { qos: 1 });
    await first.client.disconnect();
    const { client: publisher } = await peers.connect();
    await publish(publisher, { topic, payload: 'x'.repeat(200), qos: 1 });
    await publish(publisher, { topic, payload: 'fits', qos: 1 });
    const second = await peers.connect({
      ...session,
      clean: false,
      properties: { ...session.properties, ...small },
    });
    await expectMessage(second.client, 'fits');
    await second.client.expectNothing();
  });

  it('applies to retained messages and wills, too [MQTT-3.1.2-24]', async () => {
    const topic = unique('retained');
    peers.forget(topic);
    const { client: publisher } = await peers.connect();
    await publish(publisher, { topic, payload: 'x'.repeat(200), qos: 1, retain: true });
    const { client } = await peers.connect({ properties: small });
    await subscribe(client, topic, { qos: 1 });
    await client.expectNothing();
    const will = (payload: string) => ({ will: { topic, payload, qos: 0, retain: false } });
    await (await peers.connect(will('x'.repeat(200)))).client.vanish();
    await (await peers.connect(will('fits'))).client.vanish();
    await expectMessage(client, 'fits');
  });
});

describe("the client's Topic Alias Maximum", () => {
  /** Publishes to these topics in turn, twice, and returns what the client received. */
  async function receiveTwice(properties: Fields) {
    const root = unique('alias');
    const { client } = await peers.connect({ properties });
    await subscribe(client, `${root}/+`);
    const { client: publisher } = await peers.connect();
    const topics = ['a', 'b', 'c', 'd'].map((level) => `${root}/${level}`);
    const received = [];
    for (const topic of [...topics, ...topics]) {
      await publish(publisher, { topic, payload: topic });
      received.push(await client.expect('publish'));
    }
    return received;
  }

  it.each([
    ['absent', {}],
    ['0', { topicAliasMaximum: 0 }],
  ])('%s: the server sends no Topic Alias [MQTT-3.1.2-27]', async (_, properties) => {
    for (const message of await receiveTwice(properties)) {
      expect(propertiesOf(message)).not.toHaveProperty('topicAlias');
      expect(message.topic).toBe(String(message.payload));
    }
  });

  it('is not exceeded, and each alias stands for its topic [MQTT-3.1.2-26] [MQTT-3.3.2-11]', async () => {
    const topicOf = new Map<unknown, unknown>();
    for (const message of await receiveTwice({ topicAliasMaximum: 2 })) {
      const { topicAlias } = propertiesOf(message);
      if (topicAlias !== undefined) expect([1, 2]).toContain(topicAlias);
      if (topicAlias !== undefined && message.topic !== '') topicOf.set(topicAlias, message.topic);
      const topic = message.topic === '' ? topicOf.get(topicAlias) : message.topic;
      expect(topic).toBe(String(message.payload));
    }
  });
});

describe('the limit that the server announces', () => {
  async function announced(): Promise<{ client: RawClient; limits: Fields }> {
    const { client, connack } = await peers.connect();
    return { client, limits: propertiesOf(connack) };
  }

  it('as Topic Alias Maximum is the largest alias that it takes [MQTT-3.3.2-12]', async () => {
    const topic = unique('alias');
    const { client, limits } = await announced();
    const topicAlias = Number(limits.topicAliasMaximum ?? 0);
    if (topicAlias === 0) return;
    await subscribe(client, topic);
    await publish(client, { topic, payload: '1', properties: { topicAlias } });
    await publish(client, { topic: '', payload: '2', properties: { topicAlias } });
    await expectMessage(client, '1');
    await expectMessage(client, '2');
  });

  it('as Maximum Packet Size is the largest packet that it takes [MQTT-3.2.2-15]', async () => {
    const topic = unique('size');
    const { client, limits } = await announced();
    const maximumPacketSize = Number(limits.maximumPacketSize ?? 0);
    if (maximumPacketSize === 0 || maximumPacketSize > 16_000_000) return;
    const lengthBytes = maximumPacketSize > 2_097_156 ? 4 : maximumPacketSize > 16_387 ? 3 : 2;
    const payload = Buffer.alloc(maximumPacketSize - 1 - lengthBytes - 2 - topic.length - 2 - 1);
    await publish(client, { topic, payload, qos: 1 });
  });
});

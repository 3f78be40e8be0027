import { describe, expect, it } from 'vitest';
import { LOSS_GRACE_SECONDS } from '../support/door.ts';
import type { RawClient } from '../support/raw-client.ts';
import { unique } from '../support/unique.ts';
import { brokerTime } from './raw/broker-time.ts';
import { connectBytes, properties, text } from './raw/hex.ts';
import { expectMessage, type Fields, propertiesOf, publish, subscribe, usePeers } from './raw/peers.ts';

const peers = usePeers();

/** A client whose will says `gone` on this topic. */
async function testator(topic: string, will: Fields = {}, connect: Fields = {}): Promise<RawClient> {
  const { client } = await peers.connect({
    ...connect,
    will: { topic, payload: 'gone', qos: 0, retain: false, ...will },
  });
  return client;
}

/** Proves that no other will came or is due before one that takes the same path after this many seconds. */
async function expectNoWillBefore(watcher: RawClient, topic: string, delaySeconds = 0): Promise<void> {
  const marker = await testator(
    topic,
    { payload: 'marker', properties: { willDelayInterval: delaySeconds } },
    { properties: { sessionExpiryInterval: delaySeconds + 10 } },
  );
  await marker.vanish();
  await expectMessage(watcher, 'marker');
}

describe.concurrent('a will', () => {
  it('is published when the client vanishes [MQTT-3.1.2-7] [MQTT-3.1.2-8]', async () => {
    const topic = unique('will');
    const watcher = await peers.subscriber(topic);
    await (await testator(topic)).vanish();
    const message = await expectMessage(watcher, 'gone');
    expect(message.topic).toBe(topic);
    expect(message.qos).toBe(0);
    expect(message.dup).toBe(false);
  });

  it('is published when the client breaks the protocol [MQTT-3.1.2-8] [MQTT-4.13.1-1]', async () => {
    const topic = unique('will');
    const watcher = await peers.subscriber(topic);
    const client = await testator(topic);
    client.sendBytes('36 04 0001 61 00');
    await client.expectClose();
    await expectMessage(watcher, 'gone');
  });

  it('is published when the client closes the WebSocket without DISCONNECT [MQTT-3.1.2-8]', async () => {
    const topic = unique('will');
    const watcher = await peers.subscriber(topic);
    (await testator(topic)).close();
    await expectMessage(watcher, 'gone');
  });

  it('is published once only [MQTT-3.1.2-10]', async () => {
    const topic = unique('will');
    const clientId = unique('once');
    const watcher = await peers.subscriber(topic);
    const session = { clientId, properties: { sessionExpiryInterval: 60 } };
    await (await testator(topic, {}, session)).vanish();
    await expectMessage(watcher, 'gone');
    const again = await peers.connect({ ...session, clean: false });
    await again.client.vanish();
    await expectNoWillBefore(watcher, topic);
  });

  it('is not published after DISCONNECT [MQTT-3.14.4-3] [MQTT-3.1.2-10]', async () => {
    const topic = unique('will');
    const watcher = await peers.subscriber(topic);
    await (await testator(topic)).disconnect();
    await expectNoWillBefore(watcher, topic);
  });

  it('is not published, however long its delay, after DISCONNECT of a session that goes on [MQTT-3.14.4-3]', async () => {
    const topic = unique('will');
    const watcher = await peers.subscriber(topic);
    const client = await testator(
      topic,
      { properties: { willDelayInterval: 1 } },
      { properties: { sessionExpiryInterval: 60 } },
    );
    await client.disconnect();
    await expectNoWillBefore(watcher, topic, 2);
  });

  it('of an earlier connection is not published by a later one without a will [MQTT-3.1.2-10]', async () => {
    const topic = unique('will');
    const clientId = unique('later');
    const watcher = await peers.subscriber(topic);
    const session = { clientId, properties: { sessionExpiryInterval: 60 } };
    await (await testator(topic, {}, session)).disconnect();
    const again = await peers.connect({ ...session, clean: false });
    await again.client.vanish();
    await expectNoWillBefore(watcher, topic);
  });

  it('does not come back to a client that did not subscribe to its topic [MQTT-3.1.2-8]', async () => {
    const topic = unique('will');
    const watcher = await peers.subscriber(`${topic}/other`);
    await (await testator(topic)).vanish();
    await expectNoWillBefore(watcher, `${topic}/other`);
  });
});

describe.concurrent('the will as a message', () => {
  it.each([0, 1, 2] as const)('has its QoS: %i [MQTT-3.1.2-12] [MQTT-3.1.2-8]', async (qos) => {
    const topic = unique('will');
    const watcher = await peers.subscriber(topic, 2);
    await (await testator(topic, { qos })).vanish();
    expect((await expectMessage(watcher, 'gone')).qos).toBe(qos);
  });

  it('is not retained with Will Retain 0 [MQTT-3.1.2-14]', async () => {
    const topic = unique('will');
    const watcher = await peers.subscriber(topic);
    await (await testator(topic, { retain: false })).vanish();
    expect((await expectMessage(watcher, 'gone')).retain).toBe(false);
    const late = await peers.subscriber(topic);
    await late.expectNothing();
  });

  it('is retained with Will Retain 1 [MQTT-3.1.2-15]', async () => {
    const topic = unique('will');
    peers.forget(topic);
    const watcher = await peers.subscriber(topic);
    await (await testator(topic, { retain: true, qos: 1 })).vanish();
    await expectMessage(watcher, 'gone');
    const late = await peers.subscriber(topic, 1);
    expect((await expectMessage(late, 'gone')).retain).toBe(true);
  });

  it('removes a retained message when it is empty and retained [MQTT-3.1.2-15]', async () => {
    const topic = unique('will');
    peers.forget(topic);
    const { client: publisher } = await peers.connect();
    await publish(publisher, { topic, payload: 'old', qos: 1, retain: true });
    const watcher = await peers.subscriber(topic);
    await expectMessage(watcher, 'old');
    await (await testator(topic, { payload: '', retain: true })).vanish();
    await expectMessage(watcher, '');
    const late = await peers.subscriber(topic);
    await late.expectNothing();
  });

  it('carries its properties, and not its delay [MQTT-3.1.2-8]', async () => {
    const topic = unique('will');
    const watcher = await peers.subscriber(topic);
    const client = await testator(topic, {
      properties: {
        payloadFormatIndicator: true,
        contentType: 'text/plain',
        responseTopic: 'answer/here',
        correlationData: Buffer.from([0, 1, 255]),
      },
    });
    await client.vanish();
    const carried = propertiesOf(await expectMessage(watcher, 'gone'));
    expect(carried).toMatchObject({
      payloadFormatIndicator: true,
      contentType: 'text/plain',
      responseTopic: 'answer/here',
      correlationData: Buffer.from([0, 1, 255]),
    });
    expect(carried).not.toHaveProperty('willDelayInterval');
  });

  it('carries its user properties in their order, names that repeat among them [MQTT-3.1.3-10]', async () => {
    const topic = unique('will');
    const watcher = await peers.subscriber(topic);
    const pairs = ['b', 'a', 'b'].map((name, index) => `26 ${text(name)} ${text(String(index))}`).join('');
    const client = await peers.open();
    client.sendBytes(
      connectBytes({
        flags: '06',
        payload: [text(unique('orderly')), properties(pairs), text(topic), text('gone')].join(''),
      }),
    );
    await client.expect('connack');
    await client.vanish();
    const bytes = watcher.bytesOf(await expectMessage(watcher, 'gone')).toString('hex');
    expect(bytes).toContain(pairs.replaceAll(' ', ''));
  });

  it('carries any bytes, or none', async () => {
    const topic = unique('will');
    const watcher = await peers.subscriber(topic);
    await (await testator(topic, { payload: Buffer.from([0, 255, 254]) })).vanish();
    expect((await watcher.expect('publish')).payload).toEqual(Buffer.from([0, 255, 254]));
    await (await testator(topic, { payload: '' })).vanish();
    await expectMessage(watcher, '');
  });

  it('carries its message expiry, counted from when it is published [MQTT-3.3.2-6]', async () => {
    const topic = unique('will');
    const watcher = await peers.subscriber(topic);
    await (await testator(topic, { properties: { messageExpiryInterval: 1000 } })).vanish();
    const { messageExpiryInterval } = propertiesOf(await expectMessage(watcher, 'gone'));
    expect(messageExpiryInterval).toBeGreaterThan(990);
    expect(messageExpiryInterval).toBeLessThanOrEqual(1000);
  });

  it('expires in the queue of a session like any message [MQTT-3.3.2-5]', async () => {
    const topic = unique('will');
    const sleeper = { clientId: unique('sleeper'), properties: { sessionExpiryInterval: 60 } };
    const { client } = await peers.connect(sleeper);
    await subscribe(client, topic, { qos: 1 });
    await client.disconnect();
    const watcher = await peers.subscriber(topic);
    await (await testator(topic, { qos: 1, properties: { messageExpiryInterval: 1 } })).vanish();
    await expectMessage(watcher, 'gone');
    // Longer than it lives by some seconds: expiry is told by the wall clock, which may step back.
    await brokerTime(peers, 4);
    const { client: publisher } = await peers.connect();
    await publish(publisher, { topic, payload: 'fresh', qos: 1 });
    const again = await peers.connect({ ...sleeper, clean: false });
    await expectMessage(again.client, 'fresh');
  });
});

describe.concurrent('the Will Delay Interval', () => {
  const staying = { properties: { sessionExpiryInterval: 60 } };

  it('holds the will back, and then it comes [MQTT-3.1.2-8]', async () => {
    const topic = unique('will');
    const watcher = await peers.subscriber(topic);
    const willDelayInterval = LOSS_GRACE_SECONDS + 4;
    await (await testator(topic, { properties: { willDelayInterval } }, staying)).vanish();
    await expectNoWillBefore(watcher, topic);
    await expectMessage(watcher, 'gone');
  });

  it('ends without the will when the client is back before it is over [MQTT-3.1.3-9] [MQTT-3.1.2-8]', async () => {
    const topic = unique('will');
    const clientId = unique('back');
    const watcher = await peers.subscriber(topic);
    await (
      await testator(topic, { properties: { willDelayInterval: 3 } }, { clientId, ...staying })
    ).vanish();
    const { connack } = await peers.connect({ clientId, clean: false, ...staying });
    expect(connack.sessionPresent).toBe(true);
    await expectNoWillBefore(watcher, topic, 4);
  });

  it('is cut short by the end of the session, at its expiry [MQTT-3.1.2-8]', async () => {
    const topic = unique('will');
    const watcher = await peers.subscriber(topic);
    await (
      await testator(
        topic,
        { properties: { willDelayInterval: 600 } },
        { properties: { sessionExpiryInterval: 1 } },
      )
    ).vanish();
    await expectMessage(watcher, 'gone');
  });

  it('is cut short by the end of the session, with the connection [MQTT-3.1.2-8]', async () => {
    const topic = unique('will');
    const watcher = await peers.subscriber(topic);
    await (await testator(topic, { properties: { willDelayInterval: 600 } })).vanish();
    await expectMessage(watcher, 'gone');
  });

  it('is cut short by the end of the session, with Clean Start 1 [MQTT-3.1.2-8]', async () => {
    const topic = unique('will');
    const clientId = unique('clean');
    const watcher = await peers.subscriber(topic);
    await (
      await testator(topic, { properties: { willDelayInterval: 600 } }, { clientId, ...staying })
    ).vanish();
    await peers.connect({ clientId, clean: true });
    await expectMessage(watcher, 'gone');
  });

  it('belongs to the will of the last connection [MQTT-3.1.2-10]', async () => {
    const topic = unique('will');
    const clientId = unique('newer');
    const watcher = await peers.subscriber(topic);
    const session = { clientId, ...staying };
    await (await testator(topic, { properties: { willDelayInterval: 600 } }, session)).vanish();
    const newer = await testator(topic, { payload: 'newer' }, { ...session, clean: false });
    await newer.vanish();
    await expectMessage(watcher, 'newer');
    await expectNoWillBefore(watcher, topic);
  });
});

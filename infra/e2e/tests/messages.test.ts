import { describe, expect, it } from 'vitest';
import { connectClient, unique } from '../support/client.ts';

/** QoS 2 takes several writes for each message, which the emulator makes one after another. */
const COUNTS = { 0: 100, 1: 100, 2: 20 } as const;

describe.each([5, 4] as const)('protocol version %i', (protocolVersion) => {
  it.each([0, 1, 2] as const)('QoS %i: every message once, in its order, with its bytes', async (qos) => {
    const topic = unique('order');
    const subscriber = await connectClient({ protocolVersion });
    await subscriber.mqtt.subscribeAsync(topic, { qos });
    const publisher = await connectClient({ protocolVersion });
    const count = COUNTS[qos];
    const texts = Array.from({ length: count }, (_, index) => `${index}: ü €`);
    await Promise.all(texts.map((text) => publisher.mqtt.publishAsync(topic, text, { qos })));
    expect(await subscriber.texts(count)).toEqual(texts);
    expect(subscriber.received.every(({ packet }) => packet.qos === qos)).toBe(true);
  });

  it('carries bytes that are no text', async () => {
    const topic = unique('bytes');
    const client = await connectClient({ protocolVersion });
    await client.mqtt.subscribeAsync(topic, { qos: 1 });
    const payload = Buffer.from(Array.from({ length: 20_000 }, (_, index) => index % 256));
    await client.mqtt.publishAsync(topic, payload, { qos: 1 });
    const [message] = await client.messages(1);
    expect(Buffer.from(message?.packet.payload ?? '').equals(payload)).toBe(true);
  });
});

it('delivers to a wildcard subscription the matching messages, with the properties of the publisher', async () => {
  const root = unique('root');
  const subscriber = await connectClient();
  await subscriber.mqtt.subscribeAsync(`${root}/+/temperature`, { qos: 1 });
  const publisher = await connectClient();
  await publisher.mqtt.publishAsync(`${root}/kitchen/humidity`, 'no', { qos: 1 });
  await publisher.mqtt.publishAsync(`${root}/kitchen/temperature`, '21', {
    qos: 1,
    properties: {
      contentType: 'text/plain',
      userProperties: { unit: 'C' },
      correlationData: Buffer.of(1, 2),
    },
  });
  const [message] = await subscriber.messages(1);
  expect(message).toMatchObject({ topic: `${root}/kitchen/temperature`, text: '21' });
  expect(message?.packet.properties).toMatchObject({
    contentType: 'text/plain',
    userProperties: { unit: 'C' },
    correlationData: Buffer.of(1, 2),
  });
});

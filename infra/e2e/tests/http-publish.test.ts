import { createPublisher, PublishRefused } from '@apus/publish';
import { expect, test } from 'vitest';
import { connectClient, unique } from '../support/client.ts';
import { deployed } from '../support/deployed.ts';

/** A backend with the key that the deployment has generated, at the URL that it has printed. */
const backend = (key = deployed.publishKey) => createPublisher({ url: deployed.publishUrl, key });

test('messages that a backend publishes with the generated key reach clients, one or many', async () => {
  const topic = unique('orders');
  const client = await connectClient();
  await client.mqtt.subscribeAsync(`${topic}/+`, { qos: 1 });
  const publisher = backend();
  const options = { qos: 1, contentType: 'text/plain', userProperties: { source: 'shop' } } as const;
  expect(await publisher.publish(`${topic}/1`, 'one', options)).toMatchObject({ hasSubscribers: true });
  const many = ['two', 'three', 'four'].map((payload) => ({ topic: `${topic}/2`, payload, qos: 1 as const }));
  expect(await publisher.publishAll(many)).toHaveLength(3);
  expect(await client.texts(4)).toEqual(['one', 'two', 'three', 'four']);
  expect(client.received[0]?.packet.properties).toMatchObject({
    contentType: 'text/plain',
    userProperties: { source: 'shop' },
  });
});

test('its retained message reaches later subscribers', async () => {
  const topic = unique('state');
  const publisher = backend();
  expect(await publisher.publish(topic, 'on', { retain: true })).toMatchObject({ hasSubscribers: false });
  const client = await connectClient();
  await client.mqtt.subscribeAsync(topic);
  expect(await client.texts(1)).toEqual(['on']);
});

test('without the key a publish is refused', async () => {
  const publisher = backend('x'.repeat(64));
  const error = await publisher.publish('a', 'x').catch((refusal: unknown) => refusal);
  expect(error).toBeInstanceOf(PublishRefused);
  expect(error).toMatchObject({ status: 401 });
});

test('a request outside the API is refused by the function, and not by the service in front of it', async () => {
  const at = (path: string) => new URL(path, deployed.publishUrl);
  const unknownPath = await fetch(at('api/v5/clients'), { method: 'POST' });
  expect([unknownPath.status, await unknownPath.json()]).toMatchObject([404, { code: 'NOT_FOUND' }]);
  // A body that is no text reaches the function in base64.
  const headers = {
    'Content-Type': 'application/octet-stream',
    AUTHORIZATION: `Bearer ${deployed.publishKey}`,
  };
  const binary = await fetch(at('api/v5/publish'), { method: 'POST', headers, body: Buffer.of(0xff, 0) });
  expect([binary.status, await binary.json()]).toMatchObject([415, { code: 'UNSUPPORTED_MEDIA_TYPE' }]);
});

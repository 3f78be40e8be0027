import { createPublisher, PublishRefused } from '@apus/publish';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { expect, test } from 'vitest';
import { physicalIdOf } from '../support/aws.ts';
import { connectClient, unique } from '../support/client.ts';
import { functionUrlOf } from '../support/function-url.ts';

/** The key that the deployment has generated. */
async function generatedKey(): Promise<string> {
  const SecretId = await physicalIdOf('BrokerPublishKeys', 'AWS::SecretsManager::Secret');
  const { SecretString = '' } = await new SecretsManagerClient().send(
    new GetSecretValueCommand({ SecretId }),
  );
  return SecretString;
}

const endpoint = async () => functionUrlOf(await physicalIdOf('BrokerPublish', 'AWS::Lambda::Function'));

test('what a backend publishes with the generated key reaches clients, one message or many', async () => {
  const topic = unique('orders');
  const client = await connectClient();
  await client.mqtt.subscribeAsync(`${topic}/+`, { qos: 1 });
  const publisher = createPublisher({ url: await endpoint(), key: await generatedKey() });
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

test('what it retains is there for whoever subscribes later', async () => {
  const topic = unique('state');
  const publisher = createPublisher({ url: await endpoint(), key: await generatedKey() });
  expect(await publisher.publish(topic, 'on', { retain: true })).toMatchObject({ hasSubscribers: false });
  const client = await connectClient();
  await client.mqtt.subscribeAsync(topic);
  expect(await client.texts(1)).toEqual(['on']);
});

test('without the key nothing is published', async () => {
  const publisher = createPublisher({ url: await endpoint(), key: 'x'.repeat(64) });
  const error = await publisher.publish('a', 'x').catch((refusal: unknown) => refusal);
  expect(error).toBeInstanceOf(PublishRefused);
  expect(error).toMatchObject({ status: 401 });
});

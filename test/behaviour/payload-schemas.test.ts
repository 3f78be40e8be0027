import { readTopics, TopicCatalogue } from '@apus/topics';
import { describe, expect, test } from 'vitest';
import { notInACluster, onlyAt } from '../support/only-at.ts';
import { unique } from '../support/unique.ts';
import { NEEDS_OWN_DOOR, useDoor, withOptions } from './util/door-fixture.ts';

const PAYLOAD_FORMAT_INVALID = 0x99;
const payload = { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] };
const topics = [{ topic: 'sensors/{sensor}', payload, checkPayload: true }];

const RIGHT = '{"celsius":20}';
const WRONG = '{"celsius":"20"}';

describe(withOptions('A payload whose topic has a schema'), NEEDS_OWN_DOOR, () => {
  const catalogue = new TopicCatalogue(readTopics({ topics }));
  const door = useDoor({ topics: catalogue });

  for (const qos of [1, 2] as const) {
    test(`is refused with 0x99 and the reason at QoS ${qos}, reaches no subscriber, and the next one does [MQTT-3.3.1-4]`, async () => {
      const topic = `sensors/${unique('s')}`;
      const subscriber = await door.connect();
      await subscriber.subscribe(topic);
      const publisher = await door.connect();
      const messageId = publisher.sendPublish(topic, WRONG, { qos });
      const answer = await publisher.take(qos === 1 ? 'puback' : 'pubrec', messageId);
      expect(answer).toMatchObject({
        reasonCode: PAYLOAD_FORMAT_INVALID,
        properties: { reasonString: '/celsius must be number' },
      });
      expect(await publisher.publish(topic, RIGHT, { qos })).toMatchObject({ reasonCode: 0 });
      expect((await subscriber.receive()).payload).toBe(RIGHT);
      await subscriber.expectNothing();
    });
  }

  test('is dropped and counted at QoS 0, and its publisher stays', async () => {
    const topic = `sensors/${unique('s')}`;
    const subscriber = await door.connect();
    await subscriber.subscribe(topic);
    const publisher = await door.connect();
    const before = await counted(door.httpUrl);
    await publisher.publish(topic, WRONG, { qos: 0 });
    await publisher.publish(topic, RIGHT, { qos: 1 });
    expect((await subscriber.receive()).payload).toBe(RIGHT);
    expect((await counted(door.httpUrl)) - before).toBe(1);
  });

  test('is acknowledged and dropped with MQTT 3.1.1, which has no reasons [MQTT3-3.3.5-2]', async () => {
    const topic = `sensors/${unique('s')}`;
    const subscriber = await door.connect();
    await subscriber.subscribe(topic);
    const publisher = await door.connect311();
    await publisher.publish(topic, WRONG, { qos: 1 });
    await publisher.publish(topic, RIGHT, { qos: 1 });
    expect((await subscriber.receive()).payload).toBe(RIGHT);
  });

  test('is checked behind its alias', onlyAt('node', 'text frames have no aliases'), async () => {
    const publisher = await door.connect();
    await publisher.publish(`sensors/${unique('s')}`, RIGHT, { qos: 1, properties: { topicAlias: 1 } });
    const answer = await publisher.publish('', WRONG, { qos: 1, properties: { topicAlias: 1 } });
    expect(answer).toMatchObject({ reasonCode: PAYLOAD_FORMAT_INVALID });
  });

  test('is checked whether its DUP flag is set or not', async () => {
    const publisher = await door.connect();
    const answer = await publisher.publish(`sensors/${unique('s')}`, WRONG, { qos: 1, dup: true });
    expect(answer).toMatchObject({ reasonCode: PAYLOAD_FORMAT_INVALID });
  });

  test('is checked before it waits for its delay', notInACluster('it delays no messages'), async () => {
    const publisher = await door.connect();
    const topic = `$delayed/1/sensors/${unique('s')}`;
    const delayed = await publisher.publish(topic, WRONG, { qos: 1 });
    expect(delayed).toMatchObject({ reasonCode: PAYLOAD_FORMAT_INVALID });
  });

  test('may be empty to take a retained message away [MQTT-3.3.1-6]', async () => {
    const topic = `sensors/${unique('s')}`;
    const publisher = await door.connect();
    await publisher.publish(topic, RIGHT, { qos: 1, retain: true });
    expect(await publisher.publish(topic, '', { qos: 1 })).toMatchObject({
      reasonCode: PAYLOAD_FORMAT_INVALID,
    });
    await publisher.publish(topic, '', { qos: 1, retain: true });
    const subscriber = await door.connect();
    await subscriber.subscribe(topic);
    await subscriber.expectNothing();
  });

  test('is refused in a will with 0x99', async () => {
    const will = { topic: `sensors/${unique('s')}`, payload: Buffer.from(WRONG), qos: 1 };
    await expect(door.connect({ will })).rejects.toThrow(/0x99|153/);
  });

  test('is refused to a caller of the API', async () => {
    const answer = await fetch(new URL('/api/v5/publish', door.httpUrl), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ topic: `sensors/${unique('s')}`, payload: WRONG, qos: 1 }),
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ message: '/celsius must be number' });
  });
});

async function counted(httpUrl: string): Promise<number> {
  const answer = await fetch(new URL('/api/v5/metrics', httpUrl));
  const [figures] = (await answer.json()) as readonly Readonly<Record<string, number>>[];
  return figures?.['messages.validation_failed'] ?? Number.NaN;
}

import { ReasonCode } from '@apus/mqtt';
import { describe, expect, it } from 'vitest';
import { FakeDoor } from './support/fake-door.ts';

const NOTHING_LEFT = { deliveryQuota: { take: () => false } };

async function doorWithSubscriber(options: ConstructorParameters<typeof FakeDoor>[0] = {}) {
  const door = new FakeDoor(options);
  const subscriber = await door.connect({ clientId: 'subscriber' });
  await door.subscribe(subscriber, 'a', 2);
  subscriber.take();
  return { door, subscriber };
}

describe('a message that no subscriber gets', () => {
  it.each([0, 1, 2] as const)('has a line where its publisher is refused for now, at QoS %i', async (qos) => {
    const { door, subscriber } = await doorWithSubscriber(NOTHING_LEFT);
    const publisher = await door.connect({ clientId: 'publisher' });
    await door.publish(publisher, 'a', 'x', { qos });
    expect(subscriber.take()).toEqual([]);
    const refused = { reasonCode: ReasonCode.QuotaExceeded, reason: 'deliveries-exceeded' };
    expect(door.warnings).toMatchObject([['publish-refused', { clientId: 'publisher', ...refused }]]);
  });

  it('has a line where it is a will of QoS 0 over the quota of its client, which is not tried again', async () => {
    const { door, subscriber } = await doorWithSubscriber(NOTHING_LEFT);
    const will = { topic: 'a', payload: Buffer.from('lost'), qos: 0, retain: false, properties: {} } as const;
    const dying = await door.connect({ clientId: 'dying', will });
    await door.cut(dying);
    expect(subscriber.take()).toEqual([]);
    expect(door.warnings).toMatchObject([
      ['will-refused', { clientId: 'dying', topic: 'a', reason: 'deliveries-exceeded' }],
    ]);
  });

  it('has a line where the queue of its subscriber is full', async () => {
    const { door, subscriber } = await doorWithSubscriber({ limits: { queueLengthMax: 1 } });
    await door.cut(subscriber);
    const away = await door.connect({
      clientId: 'away',
      cleanStart: false,
      properties: { sessionExpiryInterval: 60 },
    });
    await door.subscribe(away, 'a', 1);
    await door.cut(away);
    const publisher = await door.connect({ clientId: 'publisher' });
    for (const text of ['1', '2']) await door.publish(publisher, 'a', text, { qos: 1 });
    expect(door.warnings).toMatchObject([['messages-dropped', { why: 'queue-full', count: 1, topic: 'a' }]]);
  });
});

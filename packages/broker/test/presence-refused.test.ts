import { ReasonCode } from '@apus/mqtt';
import { expect, it } from 'vitest';
import { connectPacket, FakeDoor } from './support/fake-door.ts';

/** As a deployment is: without rooms. */
it('a door that keeps no presence refuses members, and says why', async () => {
  const door = new FakeDoor();
  const link = await door.connect();
  link.take();
  await door.publish(link, '$presence/hall/ann', 'here', { qos: 1 });
  expect(link.take()).toMatchObject([
    {
      type: 'puback',
      reasonCode: ReasonCode.TopicNameInvalid,
      properties: { reasonString: 'this door keeps no presence' },
    },
  ]);
});

it.each(['$presence/hall/+', '$presence/#', '$occupancy/hall'])(
  'a door that keeps no presence refuses subscriptions to %s',
  async (topicFilter) => {
    const door = new FakeDoor();
    const link = await door.connect();
    link.take();
    await door.subscribe(link, topicFilter);
    expect(link.take()).toMatchObject([
      {
        type: 'suback',
        reasonCodes: [ReasonCode.TopicFilterInvalid],
        properties: { reasonString: 'this door keeps no presence' },
      },
    ]);
  },
);

it('a will for a member refuses its CONNECT', async () => {
  const door = new FakeDoor();
  const link = door.open();
  const will = {
    topic: '$presence/hall/ann',
    payload: Buffer.from('x'),
    qos: 0,
    retain: false,
    properties: {},
  } as const;
  await door.broker.receive(link, connectPacket({ clientId: 'ann', will }));
  expect(link.take()).toMatchObject([{ type: 'connack', reasonCode: ReasonCode.TopicNameInvalid }]);
});

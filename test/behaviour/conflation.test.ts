import { describe, expect, test } from 'vitest';
import { onlyAt } from '../support/only-at.ts';
import { unique } from '../support/unique.ts';
import { NEEDS_OWN_DOOR, useDoor, withOptions } from './util/door-fixture.ts';
import type { TestClient } from './util/test-client.ts';

interface Suback {
  readonly code: number;
  readonly conflateMs: string | undefined;
  readonly reason: string | undefined;
}

/** SUBSCRIBE with `conflate-ms`, and what SUBACK says. */
async function conflate(
  client: TestClient,
  filters: readonly string[],
  userProperties: Readonly<Record<string, string>>,
): Promise<Suback> {
  const messageId = client.nextPacketId();
  const subscriptions = filters.map((topic) => ({ topic, qos: 1 }));
  client.raw.send({ cmd: 'subscribe', messageId, subscriptions, properties: { userProperties } });
  const suback = await client.take('suback', messageId);
  const properties = (suback.properties ?? {}) as {
    userProperties?: Record<string, string>;
    reasonString?: string;
  };
  return {
    code: (suback.granted as number[])[0] ?? -1,
    conflateMs: properties.userProperties?.['conflate-ms'],
    reason: properties.reasonString,
  };
}

const REFUSED = 0x83;

describe(withOptions('A subscription with conflate-ms'), NEEDS_OWN_DOOR, () => {
  const door = useDoor({ streams: [{ name: 'chat', topicFilter: 'chat/#' }] });

  describe('at the node', onlyAt('node', 'the gateway door has no timer for what it would hold'), () => {
    test('is granted at QoS 0, and is sent the first message and then the newest', async () => {
      const topic = unique('prices/a');
      const reader = await door.connect();
      const granted = await conflate(reader, [topic], { 'conflate-ms': '1000' });
      expect(granted).toEqual({ code: 0, conflateMs: '1000', reason: undefined });
      const publisher = await door.connect();
      for (const text of ['1', '2', '3', '4']) await publisher.publish(topic, text, { qos: 1 });
      const received = await reader.receiveMany(2);
      expect(received.map(({ payload, qos }) => [payload, qos])).toEqual([
        ['1', 0],
        ['4', 0],
      ]);
    });

    test('has an interval for each topic, also of a stream', async () => {
      const room = unique('chat/r');
      const reader = await door.connect();
      expect((await conflate(reader, [`${room}/+`], { 'conflate-ms': '3600000' })).code).toBe(0);
      const publisher = await door.connect();
      for (const topic of ['a', 'b', 'a', 'b'])
        await publisher.publish(`${room}/${topic}`, topic, { qos: 1 });
      expect((await reader.receiveMany(2)).map(({ payload }) => payload)).toEqual(['a', 'b']);
      // Asked for without it, each comes; what was held does not.
      await reader.subscribe(`${room}/+`, { qos: 0 });
      for (const text of ['1', '2']) await publisher.publish(`${room}/a`, text, { qos: 1 });
      expect((await reader.receiveMany(2)).map(({ payload }) => payload)).toEqual(['1', '2']);
    });

    test('of a stream is sent its past, and then no more than one message in the interval', async () => {
      const room = unique('chat/r');
      const publisher = await door.connect();
      for (const text of ['1', '2']) await publisher.publish(room, text, { qos: 1 });
      const reader = await door.connect();
      const suback = await conflate(reader, [`$stream/chat/${room}`], {
        'conflate-ms': '1000',
        rewind: '5',
      });
      expect(suback).toEqual({ code: 0, conflateMs: '1000', reason: undefined });
      for (const text of ['3', '4', '5']) await publisher.publish(room, text, { qos: 1 });
      const received = await reader.receiveMany(3);
      expect(received.map(({ payload }) => payload)).toEqual(['1', '2', '5']);
    });

    test.each([
      ['nothing that is a number', ['t'], { 'conflate-ms': 'soon' }, /from 1 to 3600000, not "soon"/],
      ['nothing', ['t'], { 'conflate-ms': '0' }, /from 1 to 3600000/],
      ['more than an hour', ['t'], { 'conflate-ms': '3600001' }, /from 1 to 3600000/],
      ['a shared subscription', ['$share/g/t'], { 'conflate-ms': '100' }, /shared subscription/],
    ])('is refused with a reason for %s', async (_, filters, userProperties, reason) => {
      const client = await door.connect();
      const suback = await conflate(client, filters, userProperties as unknown as Record<string, string>);
      expect(suback).toMatchObject({ code: REFUSED, reason: expect.stringMatching(reason) });
    });

    test('is refused beside other filters, as SUBACK answers one', async () => {
      const client = await door.connect();
      expect(await conflate(client, ['a', 'b'], { 'conflate-ms': '100' })).toMatchObject({ code: REFUSED });
    });
  });

  test(
    'is refused with a reason where the door holds no messages',
    onlyAt('gateway', 'the node grants it'),
    async () => {
      const client = await door.connect();
      const suback = await conflate(client, ['t'], { 'conflate-ms': '1000' });
      expect(suback).toMatchObject({
        code: REFUSED,
        reason: expect.stringMatching(/not granted at this door/),
      });
    },
  );
});

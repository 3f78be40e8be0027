import { describe, expect, it } from 'vitest';
import { FakeDoor } from './support/fake-door.ts';

describe('a retained will for which there is no place', () => {
  it.each([0, 1, 2] as const)(
    'is published without being retained at QoS %i: no client would send it again',
    async (qos) => {
      const door = new FakeDoor({ limits: { retainedMessagesMax: 0 } });
      const subscriber = await door.connect({ clientId: 'subscriber' });
      await door.subscribe(subscriber, 'a', 2);
      subscriber.take();
      const will = { topic: 'a', payload: Buffer.from('lost'), qos, retain: true, properties: {} };
      const dying = await door.connect({ clientId: 'dying', will });
      await door.cut(dying);
      expect(subscriber.take()).toMatchObject([{ type: 'publish', topic: 'a', qos }]);
      const late = await door.connect({ clientId: 'late' });
      await door.subscribe(late, 'a', 2);
      expect(late.take().map(({ type }) => type)).not.toContain('publish');
    },
  );
});

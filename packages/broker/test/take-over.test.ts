import type { Will } from '@apus/mqtt';
import { describe, expect, it } from 'vitest';
import { connectPacket, FakeDoor } from './support/fake-door.ts';

const WILL: Will = { topic: 'will', payload: Buffer.from('gone'), qos: 1, retain: false, properties: {} };
const LASTING = { clientId: 'c', cleanStart: false, properties: { sessionExpiryInterval: 60 } };

describe.each([{ isAsync: false }, { isAsync: true }])(
  'take-over, ports answer later: $isAsync',
  ({ isAsync }) => {
    it('sends CONNACK before the will of the old connection, which the new one subscribes to [MQTT-3.2.0-1]', async () => {
      const door = new FakeDoor({ isAsync });
      const first = await door.connect({ ...LASTING, will: WILL });
      await door.subscribe(first, 'will', 1);
      const second = await door.connect(LASTING);
      expect(second.take()).toMatchObject([
        { type: 'connack', sessionPresent: true },
        { type: 'publish', topic: 'will', dup: false },
      ]);
    });

    it('sends the PUBREL of a PUBREC that comes late, of the old connection, on the new one [MQTT-4.3.3-4]', async () => {
      const door = new FakeDoor({ isAsync });
      const first = await door.connect(LASTING);
      await door.subscribe(first, 'a', 2);
      await door.publish(await door.connect(), 'a', 'x', { qos: 2, packetId: 9 });
      const [sent] = first.take().filter(({ type }) => type === 'publish');
      if (sent?.type !== 'publish') throw new Error('expected a PUBLISH');
      const late = door.copy(first);
      const second = door.open();
      // It takes nothing yet: its CONNACK is on its way, and what was inflight waits.
      second.isReady = false;
      await door.broker.receive(second, connectPacket(LASTING));
      await door.broker.receive(late, {
        type: 'pubrec',
        packetId: sent.packetId,
        reasonCode: 0,
        properties: {},
      });
      second.isReady = true;
      await door.broker.drain(second);
      expect(second.take()).toMatchObject([
        { type: 'connack', sessionPresent: true },
        { type: 'pubrel', packetId: sent.packetId },
      ]);
    });
  },
);

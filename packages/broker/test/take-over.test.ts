import { ReasonCode, type Will } from '@apus/mqtt';
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

    it('tells the old connection and closes it [MQTT-3.1.4-3]', async () => {
      const door = new FakeDoor({ isAsync });
      const first = await door.connect(LASTING);
      first.take();
      await door.connect(LASTING);
      expect(first.take()).toMatchObject([{ type: 'disconnect', reasonCode: ReasonCode.SessionTakenOver }]);
      expect(first.isOpen).toBe(false);
    });

    it('is not undone when the old connection is noticed to be lost [MQTT-3.1.2-5]', async () => {
      const door = new FakeDoor({ isAsync });
      const first = await door.connect(LASTING);
      await door.subscribe(first, 'a', 1);
      const second = await door.connect(LASTING);
      await door.cut(first);
      second.take();
      await door.publish(second, 'a', 'x', { qos: 1 });
      expect(
        second
          .take()
          .map(({ type }) => type)
          .sort(),
      ).toEqual(['puback', 'publish']);
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

    it('withdraws a will whose delay has not passed [MQTT-3.1.3-9]', async () => {
      const door = new FakeDoor({ isAsync });
      const watcher = await door.connect({ clientId: 'watcher' });
      await door.subscribe(watcher, 'will');
      const delayed = { ...WILL, properties: { willDelayInterval: 10 } };
      const first = await door.connect({ ...LASTING, will: delayed });
      await door.cut(first);
      await door.connect(LASTING);
      watcher.take();
      await door.advance(100);
      expect(watcher.take()).toEqual([]);
    });
  },
);

describe('a door where a loss may be noticed before the DISCONNECT that it followed', () => {
  const connect = { clientId: 'c', will: WILL };

  it('sends the will of a lost connection after the grace, once [MQTT-3.1.2-8]', async () => {
    const door = new FakeDoor({ lossGraceSeconds: 5 });
    const watcher = await door.connect({ clientId: 'watcher' });
    await door.subscribe(watcher, 'will');
    watcher.take();
    await door.cut(await door.connect(connect));
    await door.advance(4);
    expect(watcher.take()).toEqual([]);
    await door.advance(2);
    expect(watcher.take()).toMatchObject([{ type: 'publish', topic: 'will' }]);
    await door.advance(100);
    expect(watcher.take()).toEqual([]);
    expect(await door.stores.sessions.count()).toBe(1);
  });

  it('sends no will when the DISCONNECT commits within the grace [MQTT-3.14.4-3]', async () => {
    const door = new FakeDoor({ lossGraceSeconds: 5 });
    const watcher = await door.connect({ clientId: 'watcher' });
    await door.subscribe(watcher, 'will');
    watcher.take();
    const link = await door.connect(connect);
    const late = door.copy(link);
    await door.cut(link);
    await door.broker.receive(late, { type: 'disconnect', reasonCode: 0, properties: {} });
    await door.advance(100);
    expect(watcher.take()).toEqual([]);
  });
});

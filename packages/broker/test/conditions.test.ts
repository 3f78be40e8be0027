import { expect, test, vi } from 'vitest';
import { LOOKED_AT_IN_A_TURN_MAX } from '../src/subscribe/replay.ts';
import { FakeDoor, type FakeDoorOptions } from './support/fake-door.ts';

/** A door whose conditions fit each message, and take as long as so many deliveries. */
async function stage(deliveries: number, options: FakeDoorOptions = {}) {
  const conditions = {
    spent: 0,
    check: () => undefined,
    fits() {
      conditions.spent += deliveries;
      return true;
    },
  };
  const door = new FakeDoor({ conditions, ...options });
  const reader = await door.connect();
  const userProperties: [string, string][] = [['where', 'x']];
  const subscribe = (topicFilter: string) =>
    door.broker.receive(reader, {
      type: 'subscribe',
      packetId: 1,
      subscriptions: [{ topicFilter, qos: 0, noLocal: false, retainAsPublished: false, retainHandling: 0 }],
      properties: { userProperties },
    });
  return { door, reader, subscribe };
}

test('a publisher pays for what conditions evaluate [SEC-WORK-11]', async () => {
  const taken: number[] = [];
  const take = (_: unknown, deliveries: number) => taken.push(deliveries) > 0;
  const { door, subscribe } = await stage(40, { deliveryQuota: { take } });
  await subscribe('a/+');
  const publisher = await door.connect();
  await door.publish(publisher, 'a/b', 'x');
  await door.publish(publisher, 'b', 'x');
  await door.publish(publisher, 'a/c', 'x', { qos: 1, packetId: 1, retain: true });
  expect(taken).toEqual([41, 41]);
});

test('retained messages are compared in turns [SEC-WORK-11]', async () => {
  const { door, reader, subscribe } = await stage(LOOKED_AT_IN_A_TURN_MAX / 64);
  const publisher = await door.connect();
  for (let n = 0; n < 100; n += 1) await door.publish(publisher, `a/${n}`, 'x', { retain: true });
  const takeTurn = vi.fn();
  Object.assign(reader, { takeTurn });
  await subscribe('a/+');
  const received = () => reader.take().filter(({ type }) => type === 'publish').length;
  expect([received(), takeTurn.mock.calls.length]).toEqual([32, 1]);
  await door.broker.drain(reader);
  expect([received(), takeTurn.mock.calls.length]).toEqual([32, 2]);
});

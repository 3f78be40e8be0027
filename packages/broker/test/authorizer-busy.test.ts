import { ReasonCode } from '@apus/mqtt';
import { expect, test } from 'vitest';
import { Unavailable } from '../src/index.ts';
import { FakeDoor } from './support/fake-door.ts';

class Busy extends Unavailable {
  readonly reasonCode = ReasonCode.QuotaExceeded;
}

/** A door whose authorizer is busy when the test says so, at once or later. */
function stage(isLater: boolean) {
  const state = { isBusy: false };
  const ask = () => {
    const busy = new Busy('too many ask');
    if (!state.isBusy) return true;
    if (isLater) return Promise.reject(busy);
    throw busy;
  };
  const door = new FakeDoor({ authorizer: { mayPublish: ask, maySubscribe: () => true } });
  return { state, door };
}

test.each([true, false])(
  'a busy authorizer refuses a PUBLISH for now with 0x97 (later: %s)',
  async (isLater) => {
    const { state, door } = stage(isLater);
    const publisher = await door.connect({ clientId: 'publisher' });
    publisher.take();
    state.isBusy = true;
    await door.publish(publisher, 'a', 'x', { qos: 1 });
    expect(publisher.take()).toMatchObject([{ type: 'puback', reasonCode: ReasonCode.QuotaExceeded }]);
    await door.publish(publisher, 'a', 'x', { qos: 0 });
    state.isBusy = false;
    await door.publish(publisher, 'a', 'x', { qos: 1 });
    expect(publisher.take()).not.toMatchObject([{ reasonCode: ReasonCode.QuotaExceeded }]);
    expect(publisher.isOpen).toBe(true);
  },
);

test.each([true, false])(
  'a will is published when the authorizer is busy no more (later: %s)',
  async (isLater) => {
    const { state, door } = stage(isLater);
    const subscriber = await door.connect({ clientId: 'subscriber' });
    await door.subscribe(subscriber, 'a', 1);
    const will = { topic: 'a', payload: Buffer.from('gone'), qos: 1 as const, retain: false, properties: {} };
    const dying = await door.connect({
      clientId: 'dying',
      will,
      properties: { sessionExpiryInterval: 600 },
    });
    subscriber.take();
    state.isBusy = true;
    await door.cut(dying);
    expect(subscriber.take()).toEqual([]);
    state.isBusy = false;
    await door.advance(10);
    expect(subscriber.take()).toMatchObject([{ type: 'publish', topic: 'a' }]);
  },
);

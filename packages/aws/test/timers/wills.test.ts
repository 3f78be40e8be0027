import { beforeEach, describe, expect, it } from 'vitest';
import { gate } from '../../../../test/support/gate.ts';
import type { Fields } from '../../../../test/support/text-client.ts';

import { alterStores, TimersWorld } from '../support/timers-world.ts';

const WILL = { topic: 'will', payload: Buffer.from('gone'), qos: 1, retain: false };
const PERSISTENT: Fields = { clean: false, properties: { sessionExpiryInterval: 3_600 } };
const TWO_HOURS = 2 * 60 * 60;
const GOING_AWAY = 1001;

let world: TimersWorld;

beforeEach(async () => {
  world = await TimersWorld.create();
  await watch('watcher');
});

/** No connection is there for longer than two hours, nor its subscriptions. */
async function watch(connectionId: string): Promise<void> {
  await world.connect(connectionId);
  await world.subscribe(connectionId, 'will', 1);
}

const wills = () => ['watcher', 'later'].flatMap((connectionId) => world.gateway.textsTo(connectionId));

/** Keeps the connection active with a frame of the client. */
const live = async (seconds: number) => {
  world.gateway.status = () => ({ lastActiveAtMs: world.time.nowMs });
  await world.advance(seconds);
};

describe.each([
  { name: 'ephemeral', fields: {} },
  { name: 'persistent', fields: PERSISTENT },
])('the will of a lost connection, $name session', ({ fields }) => {
  it('waits five seconds for a DISCONNECT that is still being handled [MQTT-3.14.4-3]', async () => {
    await world.connect('a', { ...fields, will: WILL });
    const slow = world.process();
    // The gateway does not wait for the end of `$default` with `$disconnect`.
    const [reached, released] = [gate(), gate()];
    alterStores(slow, ({ sessions }) => {
      const { detach, end } = sessions;
      sessions.detach = async (request) => {
        reached.open();
        await released.opened;
        return await detach.call(sessions, request);
      };
      sessions.end = async (request) => {
        reached.open();
        await released.opened;
        return await end.call(sessions, request);
      };
    });
    const disconnect = world.frame(slow, 'a', { cmd: 'disconnect', reasonCode: 0 });
    await reached.opened;
    await world.disconnect('a');
    await world.advance(4);
    released.open();
    await disconnect;
    await world.advance(60);
    expect(wills()).toEqual([]);
  });

  it('comes after five seconds where no DISCONNECT is handled', async () => {
    await world.connect('a', { ...fields, will: WILL });
    await world.disconnect('a');
    await world.advance(4);
    expect(wills()).toEqual([]);
    await world.advance(1);
    expect(wills()).toEqual(['gone']);
    await world.advance(10_000);
    expect(wills()).toEqual(['gone']);
  });

  it('comes at once for a client that takes its own connection over, and not again', async () => {
    await world.connect('a', { ...fields, clientId: 'a', will: WILL });
    await world.connect('b', { ...fields, clientId: 'a' });
    expect(wills()).toEqual(['gone']);
    await world.disconnect('a');
    await world.advance(3_600);
    expect(wills()).toEqual(['gone']);
  });

  describe('that was cut at the age of two hours', () => {
    beforeEach(async () => {
      await world.connect('a', { ...fields, clientId: 'a', will: WILL });
      await live(TWO_HOURS);
      await watch('later');
    });

    it('is withdrawn by a client that comes straight back', async () => {
      await world.disconnect('a', GOING_AWAY);
      await world.advance(59);
      await world.connect('b', { ...fields, clientId: 'a' });
      await world.advance(3_600);
      expect(wills()).toEqual([]);
    });

    it('is withdrawn by a client that is back before the cut was noticed', async () => {
      await world.connect('b', { ...fields, clientId: 'a' });
      await world.disconnect('a', GOING_AWAY);
      await world.advance(3_600);
      expect(wills()).toEqual([]);
    });

    it('is withdrawn by a client that is back after a publisher has found its connection gone', async () => {
      await world.subscribe('a', 'news', 1);
      world.gateway.answer = ({ connectionId }) => (connectionId === 'a' ? 'gone' : 'sent');
      await world.publish('later', 'news', 'hello');
      world.gateway.answer = () => 'sent';
      await world.advance(30);
      await world.connect('b', { ...fields, clientId: 'a' });
      await world.advance(3_600);
      expect(wills()).toEqual([]);
    });

    it('comes after a minute for a client that stays away', async () => {
      await world.disconnect('a', GOING_AWAY);
      await world.advance(59);
      expect(wills()).toEqual([]);
      await world.advance(1);
      expect(wills()).toEqual(['gone']);
    });

    it('comes after five seconds when the connection ended for another reason', async () => {
      await world.disconnect('a', 1006);
      await world.advance(5);
      expect(wills()).toEqual(['gone']);
    });
  });

  it('has no longer grace when the connection ended after ten idle minutes', async () => {
    await world.connect('a', { ...fields, will: WILL });
    world.time.nowMs += 600_000;
    await world.disconnect('a', GOING_AWAY);
    await world.advance(5);
    expect(wills()).toEqual(['gone']);
  });
});

it('the will of an ephemeral session comes with a client that is back within the grace: its session has ended', async () => {
  await world.connect('a', { clientId: 'a', will: WILL });
  await world.disconnect('a');
  await world.advance(2);
  await world.connect('b', { clientId: 'a' });
  expect(wills()).toEqual(['gone']);
  await world.advance(60);
  expect(wills()).toEqual(['gone']);
});

it('the will of a session that goes on is withdrawn by a client that is back within the grace', async () => {
  await world.connect('a', { ...PERSISTENT, clientId: 'a', will: WILL });
  await world.disconnect('a');
  await world.advance(2);
  await world.connect('b', { ...PERSISTENT, clientId: 'a' });
  await world.advance(60);
  expect(wills()).toEqual([]);
});

it('a will whose delay has passed comes although its timer is late and the client is back first', async () => {
  const properties = { willDelayInterval: 10 };
  await world.connect('a', { ...PERSISTENT, clientId: 'a', will: { ...WILL, properties } });
  await world.disconnect('a');
  world.time.nowMs += 10_000;
  await world.connect('b', { ...PERSISTENT, clientId: 'a' });
  expect(wills()).toEqual(['gone']);
  await world.advance(60);
  expect(wills()).toEqual(['gone']);
});

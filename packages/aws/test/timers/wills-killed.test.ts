import { expect, it, vi } from 'vitest';
import type { Fields } from '../../../../test/support/text-client.ts';
import { Kill, type Process, TimersWorld } from '../support/timers-world.ts';

// For each of its steps that a process dies at, the world is made anew.
vi.setConfig({ testTimeout: 120_000 });

const WILL = { topic: 'will', payload: Buffer.from('gone'), qos: 1, retain: true };
const PERSISTENT: Fields = { clean: false, properties: { sessionExpiryInterval: 3_600 } };

/** The wills that clients have: each one's, of every packet id, and of the queue of the one that was away. */
interface Outcome {
  readonly online: ReadonlySet<number | undefined>;
  readonly offline: readonly string[];
  readonly retained: readonly string[];
}

async function begin(): Promise<TimersWorld> {
  const world = await TimersWorld.create();
  // One that keeps nothing: it may get the message twice, under one packet id, which comes from the message's own.
  await world.connect('online');
  await world.subscribe('online', 'will', 1);
  // One whose queue knows each message by its id, at QoS 2.
  await world.connect('offline', PERSISTENT);
  await world.subscribe('offline', 'will', 2);
  await world.disconnect('offline', 1006);
  return world;
}

async function outcomeOf(world: TimersWorld): Promise<Outcome> {
  const online = world.gateway.packetsTo('online').filter(({ text }) => text === 'gone');
  const [, ...queue] = await world.connect('offline-2', { ...PERSISTENT, clientId: 'offline' });
  await world.connect('later');
  const retained = await world.frame(world.process(), 'later', {
    cmd: 'subscribe',
    messageId: 1,
    subscriptions: [{ topic: 'will', qos: 1 }],
  });
  return {
    online: new Set(online.map(({ messageId }) => messageId)),
    offline: queue.map(({ text }) => text),
    retained: retained.filter(({ cmd }) => cmd === 'publish').map(({ text }) => text),
  };
}

function expectOnce({ online, offline, retained }: Outcome, at: number): void {
  expect({ at, online: online.size, offline, retained }).toEqual({
    at,
    online: 1,
    offline: ['gone'],
    retained: ['gone'],
  });
}

/** The steps before the kill, in the process that is killed, and in the one that recovers. */
interface History {
  readonly name: string;
  prepare(world: TimersWorld): Promise<void>;
  run(world: TimersWorld, process: Process): Promise<void>;
  recover(world: TimersWorld): Promise<void>;
}

const HISTORIES: readonly History[] = [
  {
    name: 'the timer of a lost connection',
    prepare: async (world) => {
      await world.connect('a', { will: { ...WILL, qos: 2 } });
      await world.disconnect('a');
      world.time.nowMs += 5_000;
    },
    run: (world, process) => world.poll(process),
    // A message that was received and not deleted is visible again after three minutes.
    recover: (world) => world.advance(200),
  },
  {
    name: 'a will whose publication was cut off before, by its second timer',
    prepare: async (world) => {
      await world.connect('a', { will: { ...WILL, qos: 2 } });
      await world.disconnect('a');
      world.time.nowMs += 5_000;
      const { sessions } = world.process().cloud.stores;
      const record = await sessions.get('default', 'a');
      if (record === undefined) throw new Error('expected a session');
      await sessions.beginWill(record.session, 'a', 'the-first-message-id', world.time.nowMs);
    },
    run: (world, process) => world.poll(process),
    recover: (world) => world.advance(200),
  },
];

it.each(HISTORIES)('$name, killed at each step: one message, and it is never lost', async (history) => {
  let hasStruck = true;
  let at = 0;
  while (hasStruck) {
    at += 1;
    const world = await begin();
    await history.prepare(world);
    const kill = new Kill(at);
    await history.run(world, world.process({ kill }));
    ({ hasStruck } = kill);
    await history.recover(world);
    expectOnce(await outcomeOf(world), at);
  }
  expect(at).toBeGreaterThan(10);
});

import { beforeEach, describe, expect, it } from 'vitest';
import { Kill, TimersWorld } from '../support/timers-world.ts';

const WILL = { topic: 'will', payload: Buffer.from('gone'), qos: 1, retain: false };
const ELEVEN_MINUTES = 660;

/** The tombstone takes two steps, and then the session hears of it. */
const DETACHED_AT_STEP = 4;

let world: TimersWorld;

beforeEach(async () => {
  world = await TimersWorld.create();
  await world.connect('watcher');
  await world.subscribe('watcher', 'will', 1);
});

const wills = () => world.gateway.textsTo('watcher');
const checksArmed = () => world.queue.sent.filter(({ body }) => body.includes('liveness')).length;

describe('a connection that holds a will', () => {
  it('is looked up at the gateway every eleven minutes while it lives', async () => {
    world.gateway.status = () => ({ lastActiveAtMs: world.time.nowMs - 540_000 });
    await world.connect('a', { will: WILL });
    await world.advance(10 * ELEVEN_MINUTES);
    expect(checksArmed()).toBe(11);
    expect(world.queue.length).toBe(1);
    expect(world.gateway.deleted).toEqual([]);
    expect(wills()).toEqual([]);
  });

  it('is lost when the gateway does not know it any more, though no $disconnect came', async () => {
    world.gateway.status = () => 'gone';
    await world.connect('a', { will: WILL });
    await world.advance(ELEVEN_MINUTES + 4);
    expect(wills()).toEqual([]);
    await world.advance(1);
    expect(wills()).toEqual(['gone']);
    expect(world.gateway.deleted).toEqual([]);
    await world.advance(3_600);
    expect(world.queue.length).toBe(0);
  });

  it('is closed and counts as lost when it has been idle for longer than the gateway allows', async () => {
    const beganAtMs = world.time.nowMs;
    world.gateway.status = () => ({ lastActiveAtMs: beganAtMs });
    await world.connect('a', { will: WILL });
    // To the millisecond it is still within the time.
    await world.advance(ELEVEN_MINUTES);
    expect(world.gateway.deleted).toEqual([]);
    await world.advance(ELEVEN_MINUTES);
    expect(world.gateway.deleted).toEqual(['a']);
    await world.advance(5);
    expect(wills()).toEqual(['gone']);
  });

  it('is looked up again after a minute when the gateway does not answer', async () => {
    world.gateway.status = () => 'unknown';
    await world.connect('a', { will: WILL });
    await world.advance(ELEVEN_MINUTES + 59);
    expect(checksArmed()).toBe(2);
    world.gateway.status = () => 'gone';
    await world.advance(1 + 5);
    expect(wills()).toEqual(['gone']);
  });

  it('is not looked up any more after a DISCONNECT', async () => {
    world.gateway.status = () => 'gone';
    await world.connect('a', { will: WILL });
    await world.frame(world.process(), 'a', { cmd: 'disconnect', reasonCode: 0 });
    await world.advance(3_600);
    expect(world.queue.length).toBe(0);
    expect(wills()).toEqual([]);
  });

  it('does not end its successor', async () => {
    world.gateway.status = (connectionId) =>
      connectionId === 'a' ? 'gone' : { lastActiveAtMs: world.time.nowMs };
    const fields = { clean: false, properties: { sessionExpiryInterval: 3_600 }, clientId: 'a' };
    await world.connect('a', { ...fields, will: { ...WILL, properties: { willDelayInterval: 60 } } });
    await world.connect('b', { ...fields, will: WILL });
    await world.advance(3 * ELEVEN_MINUTES);
    expect(wills()).toEqual([]);
    const record = await world.process().cloud.stores.sessions.get('default', 'a');
    expect(record?.attachment?.connectionId).toBe('b');
  });

  it('counts as lost although the process that noticed its loss has died', async () => {
    world.gateway.status = () => 'gone';
    let hasStruck = true;
    for (let at = 1; hasStruck; at += 1) {
      const connectionId = `a-${at}`;
      await world.connect(connectionId, { will: { ...WILL, payload: Buffer.from(connectionId) } });
      const kill = new Kill(at);
      await world.disconnect(connectionId, 1006, world.process({ kill }));
      ({ hasStruck } = kill);
      await world.advance(ELEVEN_MINUTES + 5);
      // Where it died between the session's hearing of it and the timer, the sweep finds the will.
      const left = await world.process().cloud.stores.sessions.get('default', connectionId);
      if (left?.willDue === undefined) expect(wills()).toContain(connectionId);
      else expect(kill.steps).toBeGreaterThanOrEqual(DETACHED_AT_STEP);
    }
  });
});

it('a connection without a will has no timer', async () => {
  await world.connect('a');
  expect(world.queue.sent).toEqual([]);
});

it('a client for which no timer can be set is refused, and leaves no session', async () => {
  const process = world.process();
  world.queue.send = () => Promise.reject(Object.assign(new Error('no queue')));
  await expect(world.connect('a', { will: WILL }, process)).rejects.toThrow('no queue');
  expect(await process.cloud.stores.sessions.get('default', 'a')).toBeUndefined();
});

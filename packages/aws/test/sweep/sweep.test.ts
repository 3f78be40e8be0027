import { messageOf, upTo } from '@apus/broker/samples';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Fields } from '../../../../test/support/text-client.ts';
import { alterStores, beforeFirst, Kill, type Process, TimersWorld } from '../support/timers-world.ts';

// Where a process dies at each of its steps, the world is made anew for each.
vi.setConfig({ testTimeout: 120_000 });

const WILL = { topic: 'will', payload: Buffer.from('gone'), qos: 1, retain: false };
const PERSISTENT: Fields = { clean: false, properties: { sessionExpiryInterval: 100_000 } };
const TEN_MINUTES_MS = 600_000;
const TWO_HOURS_MS = 7_200_000;
const LIFE_MS = TWO_HOURS_MS + 300_000;

let world: TimersWorld;

beforeEach(async () => {
  world = await TimersWorld.create();
});

async function watch(connectionId: string): Promise<void> {
  await world.connect(connectionId);
  await world.subscribe(connectionId, 'will', 1);
}

const recordOf = async (clientId: string) =>
  await world.process().cloud.stores.sessions.get('default', clientId);

/** Time passes and no timer fires: they are lost. */
const pass = (ms: number) => {
  world.time.nowMs += ms;
};

/** `$disconnect` first reads the list of bans: before the call, and after it. */
const BANS_STEPS = 2;

/** A process that dies at its nth step. */
const dying = (at: number): Process => world.process({ kill: new Kill(at) });

describe('a connection past its life', () => {
  it('is lost at the time of the unnoticed cut', async () => {
    const beganAtMs = world.time.nowMs;
    await world.connect('a', PERSISTENT);
    pass(LIFE_MS);
    expect(await world.sweep()).toMatchObject({ connectionsLost: 0, connections: 1 });
    pass(1);
    await world.sweep();
    // The pass of a moment ago is over, and this one finds it.
    expect(await recordOf('a')).toMatchObject({
      attachment: undefined,
      detachedAtMs: beganAtMs + TWO_HOURS_MS,
    });
    expect(await world.process().cloud.stores.links.load('a')).toMatchObject({ phase: 'closed' });
    expect(world.gateway.deleted, 'the gateway has cut it').toEqual([]);
  });

  it('leaves its will, which is due by now', async () => {
    await world.connect('a', { will: WILL });
    pass(LIFE_MS + 1);
    await watch('watcher');
    expect(await world.sweep()).toMatchObject({ connectionsLost: 1 });
    expect(world.gateway.textsTo('watcher')).toEqual(['gone']);
    expect(await recordOf('a')).toBeUndefined();
  });

  it('does not affect a session that has gone on over another connection', async () => {
    await world.connect('a', { ...PERSISTENT, clientId: 'c' });
    pass(LIFE_MS);
    await world.connect('b', { ...PERSISTENT, clientId: 'c' });
    pass(1);
    expect(await world.sweep()).toMatchObject({ connectionsLost: 0 });
    expect((await recordOf('c'))?.attachment?.connectionId).toBe('b');
  });
});

describe('a connection that has sent no CONNECT', () => {
  const save = () =>
    world.process().cloud.stores.links.save('silent', {
      phase: 'new',
      identity: { tenant: 'default', name: 'somebody' },
    });

  it('is cut after a minute', async () => {
    await save();
    pass(60_000);
    expect(await world.sweep()).toMatchObject({ connectTimeouts: 0 });
    expect(world.gateway.deleted).toEqual([]);
    pass(1);
    expect(await world.sweep()).toMatchObject({ connectTimeouts: 1 });
    expect(world.gateway.deleted).toEqual(['silent']);
    expect(await world.process().cloud.stores.links.load('silent')).toMatchObject({ phase: 'closed' });
  });

  it('is left alone when its CONNECT comes between the sweep and its second look', async () => {
    await save();
    pass(60_001);
    const process = world.process();
    const { links } = process.cloud.stores;
    beforeFirst(process, 'links.load', () => world.connect('silent'));
    expect(await world.sweep(process)).toMatchObject({ connectTimeouts: 0 });
    expect(world.gateway.deleted).toEqual([]);
    expect(await links.load('silent')).toMatchObject({ phase: 'connected' });
  });
});

describe('a connection whose queue stands still', () => {
  const FIVE_MINUTES_MS = 300_000;

  /** Its one place is taken by a message that died with its handler, and another one waits. */
  async function fill(): Promise<void> {
    await world.connect('stuck', {
      clean: false,
      properties: { sessionExpiryInterval: 100_000, receiveMaximum: 1 },
    });
    await world.subscribe('stuck', 't', 1);
    await world.connect('publisher');
    await world.publish('publisher', 't', 'never posted');
    await world.publish('publisher', 't', 'waits');
  }

  it('is cut after five minutes, so that its client comes back for the rest', async () => {
    await fill();
    pass(FIVE_MINUTES_MS);
    expect(await world.sweep()).toMatchObject({ connectionsStuck: 0 });
    pass(1);
    expect(await world.sweep()).toMatchObject({ connectionsStuck: 1 });
    expect(world.gateway.deleted).toEqual(['stuck']);
  });

  it('is left alone while no message waits, and when its queue has moved', async () => {
    await world.connect('idle', PERSISTENT);
    await fill();
    pass(FIVE_MINUTES_MS + 1);
    await world.frame(world.process(), 'stuck', { cmd: 'puback', messageId: 1 });
    expect(await world.sweep()).toMatchObject({ connectionsStuck: 0 });
    expect(world.gateway.deleted).toEqual([]);
  });
});

describe('a session whose connection is over', () => {
  it('is told by the sweep when the process that noticed has died, with the time at which it noticed', async () => {
    await world.connect('a', { ...PERSISTENT, will: WILL });
    pass(1_000);
    const endedAtMs = world.time.nowMs;
    // The tombstone is two steps.
    await world.disconnect('a', 1006, dying(BANS_STEPS + 3));
    expect((await recordOf('a'))?.attachment).toBeDefined();
    pass(60_000);
    expect(await world.sweep()).toMatchObject({ connectionsLost: 0 });
    pass(1);
    await watch('watcher');
    expect(await world.sweep()).toMatchObject({ connectionsLost: 1 });
    expect(await recordOf('a')).toMatchObject({ attachment: undefined, detachedAtMs: endedAtMs });
    expect(world.gateway.textsTo('watcher')).toEqual(['gone']);
    // If a post was answered 410 although the connection was open, its client would wait in vain.
    expect(world.gateway.deleted).toEqual(['a']);
  });

  it('is read while its change is new, and not by every pass', async () => {
    await world.connect('a', PERSISTENT);
    await world.disconnect('a');
    const reads: number[] = [];
    for (let run = 0; run < 4; run += 1) {
      pass(TEN_MINUTES_MS);
      const process = world.process();
      const { sweepScan } = process.cloud.stores;
      const sessions = sweepScan.sessions.bind(sweepScan);
      sweepScan.sessions = (names) => {
        reads.push(...names.map(() => run));
        return sessions(names);
      };
      await world.sweep(process);
    }
    expect(reads).toEqual([0]);
  });

  it('is offline soon after a CONNECT that died before its connection was saved', async () => {
    let hasStruck = true;
    for (let at = 1; hasStruck; at += 1) {
      const connectionId = `a-${at}`;
      const process = dying(at);
      await world.connect(connectionId, { ...PERSISTENT, clientId: connectionId }, process);
      ({ hasStruck } = process.kill);
      if (!hasStruck) break;
      pass(TEN_MINUTES_MS);
      await world.sweep();
      const record = await recordOf(connectionId);
      const isSaved = (await world.process().cloud.stores.links.load(connectionId))?.phase === 'connected';
      expect({ at, isOnline: record?.attachment !== undefined }).toEqual({ at, isOnline: isSaved });
    }
  });

  it('is not taken from a client that is back before the sweep looks again', async () => {
    await world.connect('a', { ...PERSISTENT, clientId: 'c' });
    await world.disconnect('a', 1006, dying(BANS_STEPS + 3));
    pass(TEN_MINUTES_MS);
    const process = world.process();
    beforeFirst(process, 'sessions.get', () => world.connect('b', { ...PERSISTENT, clientId: 'c' }));
    expect(await world.sweep(process)).toMatchObject({ connectionsLost: 0 });
    expect((await recordOf('c'))?.attachment?.connectionId).toBe('b');
  });
});

describe('a session past its expiry', () => {
  const leave = async (fields: Fields = {}) => {
    await world.connect('a', { ...PERSISTENT, ...fields });
    await world.subscribe('a', 'news', 1);
    await world.disconnect('a');
  };

  it('ends, with all that it had', async () => {
    await leave();
    // Its end is further away than any timer: nothing waits in the queue.
    expect(world.queue.length).toBe(0);
    await world.connect('publisher');
    await world.publish('publisher', 'news', 'hello');
    pass(100_000_000 + 60_000);
    expect(await world.sweep()).toMatchObject({ sessionsEnded: 0 });
    pass(1);
    expect(await world.sweep()).toMatchObject({ sessionsEnded: 1, sessions: expect.any(Number) });
    expect(await recordOf('a')).toBeUndefined();
    const left = (await world.items()).filter(({ p }) => p?.S?.startsWith('I\0'));
    expect(left).toEqual([]);
    const members = await world.process().cloud.stores.subscriptions.match('default', 'news');
    expect(members).toEqual([]);
  });

  it('takes its will along, which had a longer delay', async () => {
    const will = { ...WILL, properties: { willDelayInterval: 200_000 } };
    await leave({ will, properties: { sessionExpiryInterval: 7_200 } });
    // No timer of it fires.
    pass(7_200_000 + 60_001);
    await watch('watcher');
    await world.sweep();
    expect(world.gateway.textsTo('watcher')).toEqual(['gone']);
    expect(await recordOf('a')).toBeUndefined();
  });

  it('passes on messages of a shared subscription that it had been sent', async () => {
    await world.connect('a', PERSISTENT);
    await world.subscribe('a', '$share/g/work', 1);
    await world.disconnect('a');
    await world.connect('publisher');
    await world.publish('publisher', 'work', 'task');
    pass(100_060_001);
    await world.connect('b');
    await world.subscribe('b', '$share/g/work', 1);
    expect(await world.sweep()).toMatchObject({ sessionsEnded: 1 });
    expect(world.gateway.textsTo('b')).toEqual(['task']);
  });

  it('stays when its client is back before the sweep looks again', async () => {
    await leave();
    pass(100_060_001);
    const process = world.process();
    beforeFirst(process, 'sessions.get', () => world.connect('b', { ...PERSISTENT, clientId: 'a' }));
    await world.sweep(process);
    expect((await recordOf('a'))?.attachment?.connectionId).toBe('b');
  });
});

describe('a will that no process publishes', () => {
  it('of a connection whose loss was noticed by a process that died before it set the timer', async () => {
    await watch('watcher');
    await world.connect('a', { ...PERSISTENT, will: WILL });
    // The tombstone, and the session's hearing of it.
    await world.disconnect('a', 1006, dying(BANS_STEPS + 5));
    pass(65_000);
    expect(await world.sweep()).toMatchObject({ wills: 0 });
    pass(1);
    expect(await world.sweep()).toMatchObject({ wills: 1 });
    expect(world.gateway.textsTo('watcher')).toEqual(['gone']);
    expect(await world.sweep()).toMatchObject({ wills: 0 });
  });

  it.each([
    { name: 'that goes on', fields: PERSISTENT },
    { name: 'that begins anew', fields: {} },
  ])(
    'of a connection that was taken over by a CONNECT which died, in a session $name',
    async ({ fields }) => {
      let hasStruck = true;
      let survivors = 0;
      for (let at = 1; hasStruck; at += 1) {
        world = await TimersWorld.create();
        await watch('watcher');
        await world.connect('a', { ...fields, clientId: 'c', will: WILL });
        const process = dying(at);
        await world.connect('b', { ...fields, clientId: 'c' }, process);
        ({ hasStruck } = process.kill);
        const isTaken = (await recordOf('c'))?.lastConnectionId === 'b';
        pass(TEN_MINUTES_MS);
        await world.sweep();
        if (!isTaken) continue;
        survivors += 1;
        const ids = new Set(world.gateway.packetsTo('watcher').map(({ messageId }) => messageId));
        expect({ at, wills: ids.size }).toEqual({ at, wills: 1 });
      }
      expect(survivors).toBeGreaterThan(5);
    },
  );
});

describe('a consistent table', () => {
  it('is left as it is', async () => {
    await watch('watcher');
    await world.connect('live', { ...PERSISTENT, will: WILL });
    await world.connect('away', PERSISTENT);
    await world.subscribe('away', 'news/+', 1);
    await world.disconnect('away');
    const will = { ...WILL, properties: { willDelayInterval: 50_000 } };
    await world.connect('late', { ...PERSISTENT, will });
    await world.disconnect('late');
    await world.connect('gone');
    await world.frame(world.process(), 'gone', { cmd: 'disconnect', reasonCode: 0 });
    const withoutSweep = async () => (await world.items()).filter(({ s }) => s?.S !== 'sweep');
    const before = await withoutSweep();
    for (let run = 0; run < 6; run += 1) {
      pass(TEN_MINUTES_MS);
      const report = await world.sweep();
      expect(report).toMatchObject({ connectionsLost: 0, connectTimeouts: 0, sessionsEnded: 0, wills: 0 });
      expect(report).toMatchObject({
        debris: 0,
        failed: 0,
        isPassComplete: true,
        connections: 2,
        sessions: 4,
      });
    }
    const withoutCount = (items: typeof before) => items.filter(({ s }) => s?.S !== 'count');
    expect(withoutCount(await withoutSweep())).toEqual(withoutCount(before));
  });

  it('is left as it is by a sweep whose clock is half a minute ahead', async () => {
    await world.connect('a', { ...PERSISTENT, will: WILL });
    await world.disconnect('a');
    const process = world.process({ aheadMs: 30_000 });
    expect(await world.sweep(process)).toMatchObject({ connectionsLost: 0, wills: 0, sessionsEnded: 0 });
  });
});

describe('two sweeps at once', () => {
  it('do each piece of work once', async () => {
    for (const clientId of ['a', 'b', 'c'])
      await world.connect(clientId, { will: { ...WILL, payload: Buffer.from(clientId) } });
    await world.connect('d', PERSISTENT);
    pass(LIFE_MS + 1);
    await watch('watcher');
    const reports = await Promise.all([world.sweep(), world.sweep(), world.sweep()]);
    expect(reports.map((report) => report?.failed)).toEqual([0, 0, 0]);
    expect(reports.reduce((sum, report) => sum + (report?.connectionsLost ?? 0), 0)).toBe(4);
    const wills = world.gateway.packetsTo('watcher');
    const ids = new Map(wills.map(({ text, messageId }) => [text, messageId]));
    expect([...ids.keys()].sort()).toEqual(['a', 'b', 'c']);
    // A repetition sends the same message.
    for (const { text, messageId } of wills) expect(messageId).toBe(ids.get(text));
    expect(await world.sweep()).toMatchObject({ connectionsLost: 0, wills: 0, sessionsEnded: 0 });
  });
});

describe('a sweep that is killed at each step', () => {
  it('leaves the unfinished work to the next one', async () => {
    let hasStruck = true;
    let at = 0;
    while (hasStruck) {
      at += 1;
      world = await TimersWorld.create();
      await world.connect('a', { will: { ...WILL, qos: 2 } });
      pass(LIFE_MS + 1);
      await watch('watcher');
      const process = dying(at);
      await world.sweep(process);
      ({ hasStruck } = process.kill);
      for (let run = 0; run < 2; run += 1) {
        pass(TEN_MINUTES_MS);
        await world.sweep();
      }
      const ids = new Set(world.gateway.packetsTo('watcher').map(({ messageId }) => messageId));
      expect({ at, wills: ids.size, record: await recordOf('a') }).toEqual({
        at,
        wills: 1,
        record: undefined,
      });
    }
    expect(at).toBeGreaterThan(15);
  });
});

describe('the counts of the retained messages of a tenant', () => {
  const retainedOf = (topic: string, bytes: number) =>
    messageOf({ topic, payload: Buffer.alloc(bytes), retain: true });
  const put = async (tenant: string, topic: string, messagesMax: number, bytesMax: number) => {
    // The numbers are read again after a minute.
    pass(61_000);
    const limits = { messagesMax, bytesMax };
    return await world.process().cloud.stores.retained.put(tenant, retainedOf(topic, 100), limits);
  };

  it('are corrected where they are far off, as TTL counts nothing down', async () => {
    const { retained } = world.process().cloud.stores;
    for (let index = 0; index < 20; index += 1) await put('t', `kept/${index}`, 1_000, 1_000_000);
    await retained.resize('t', 5_000, 50_000_000);
    await retained.resize('gone', 5_000, 50_000_000);
    expect(await put('t', 'one more', 1_000, 1_000_000)).toBe(false);
    expect(await put('gone', 'first', 1_000, 1_000_000)).toBe(false);
    expect(await world.sweep(world.process())).toMatchObject({ isPassComplete: true });
    expect(await put('t', 'one more', 1_000, 1_000_000)).toBe(true);
    expect(await put('gone', 'first', 1_000, 1_000_000)).toBe(true);
    // Twenty messages of 100 bytes, a topic and what each costs.
    expect(await put('t', 'too much', 1_000, 7_000)).toBe(false);
  });

  it('are left alone where they are wrong by chance', async () => {
    await world.process().cloud.stores.retained.resize('t', 200, 200_000);
    await world.sweep(world.process());
    expect(await put('t', 'one more', 200, 1_000_000)).toBe(false);
  });
});

describe('a run that has no time for the whole table', () => {
  const CLIENTS = 12;

  /** Six megabytes and some clients among them, all of whom are past their lives. */
  async function fill(): Promise<void> {
    const { retained } = world.process().cloud.stores;
    for (let number = 0; number < 60; number += 1) {
      const message = {
        id: `000000000000${number}-test`,
        topic: `t/${number}`,
        payload: Buffer.alloc(100_000),
        qos: 1 as const,
        retain: true,
        properties: {},
        expiresAtMs: undefined,
        publisherKey: undefined,
      };
      // A tenant each: partitions of their own, spread over the table.
      await retained.put(`tenant-${number}`, message, upTo(1_000));
    }
    for (let client = 0; client < CLIENTS; client += 1) await world.connect(`c-${client}`, PERSISTENT);
    pass(LIFE_MS + 1);
  }

  /** Time for one round of pages. */
  const oneRound = () => {
    let asked = 0;
    return () => {
      asked += 1;
      return asked === 1 ? 60_000 : 14_000;
    };
  };

  it.each([1, 4])('is followed by one that goes on where it stopped (%i segments)', async (segments) => {
    await fill();
    let lost = 0;
    let runs = 0;
    let report = await world.sweep(world.process({ segments }), oneRound());
    while (report !== undefined) {
      runs += 1;
      lost += report.connectionsLost;
      expect(report).toMatchObject({ pass: 1, failed: 0 });
      if (report.isPassComplete) break;
      report = await world.sweep(world.process({ segments }), oneRound());
    }
    expect(lost).toBe(CLIENTS);
    expect(report).toMatchObject({ sessions: CLIENTS });
    expect(runs).toBeGreaterThan(segments === 1 ? 4 : 1);
    expect(await world.sweep(world.process({ segments }))).toMatchObject({ pass: 2, connectionsLost: 0 });
  });

  it('begins anew where the table is cut into other segments than before', async () => {
    await fill();
    expect(await world.sweep(world.process({ segments: 2 }), oneRound())).toMatchObject({
      isPassComplete: false,
    });
    const report = await world.sweep(world.process({ segments: 3 }));
    expect(report).toMatchObject({ pass: 2, isPassComplete: true, sessions: CLIENTS });
  });

  it('finds a page again when there was no time to deal with it', async () => {
    await world.connect('a', PERSISTENT);
    pass(LIFE_MS + 1);
    let asked = 0;
    const noTimeToAct = () => (++asked === 1 ? 60_000 : 4_999);
    expect(await world.sweep(world.process(), noTimeToAct)).toMatchObject({
      isPassComplete: false,
      connectionsLost: 0,
    });
    expect(await world.sweep()).toMatchObject({ pass: 1, connectionsLost: 1, isPassComplete: true });
  });
});

describe('a finding that a sweep could not deal with', () => {
  it('is found by the next one although it is not new any more', async () => {
    await world.connect('a', PERSISTENT);
    await world.disconnect('a', 1006, dying(BANS_STEPS + 3));
    pass(TEN_MINUTES_MS);
    const process = world.process();
    alterStores(process, ({ sessions }) => {
      sessions.get = () => Promise.reject(new Error('not now'));
    });
    // Once, although it is found at the connection and at the session.
    expect(await world.sweep(process)).toMatchObject({ failed: 1, isPassComplete: true });
    expect(process.log.map(({ event }) => event)).toContain('sweep-failed');
    pass(2 * TEN_MINUTES_MS);
    expect(await world.sweep()).toMatchObject({ failed: 0, connectionsLost: 1 });
  });

  it('does not keep it from the other findings', async () => {
    for (const clientId of ['a', 'b', 'c']) {
      await world.connect(clientId, PERSISTENT);
      await world.disconnect(clientId, 1006, dying(BANS_STEPS + 3));
    }
    pass(TEN_MINUTES_MS);
    const process = world.process();
    alterStores(process, ({ sessions }) => {
      const get = sessions.get.bind(sessions);
      sessions.get = (tenant, clientId) =>
        clientId === 'b' ? Promise.reject(new Error('not now')) : get(tenant, clientId);
    });
    expect(await world.sweep(process)).toMatchObject({ failed: 1, connectionsLost: 2 });
  });

  it('survives notes that it does not understand', async () => {
    await world.process().cloud.stores.sweepScan.note({ pass: 'seven' });
    expect(await world.sweep()).toMatchObject({ pass: 1, isPassComplete: true });
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import type { Fields } from '../../../../test/support/text-client.ts';
import type { SqsRecord } from '../../src/events/sqs.ts';
import { alterStores, type Process, TimersWorld } from '../support/timers-world.ts';

const WILL = { topic: 'will', payload: Buffer.from('gone'), qos: 1, retain: false };

let world: TimersWorld;

beforeEach(async () => {
  world = await TimersWorld.create();
  await world.connect('watcher');
  await world.subscribe('watcher', 'will', 1);
});

/** Of the wills, and when they came, in seconds from the beginning of the world. */
const wills = () => world.gateway.textsTo('watcher');

const recordOf = (body: string, messageId = 'm'): SqsRecord => ({
  messageId,
  receiptHandle: messageId,
  body,
  attributes: {},
});

/** Only the messages that a test looks at, without those that look after connections. */
const remindersSent = () => world.queue.sent.filter(({ body }) => !body.includes('liveness'));

async function failuresOf(process: Process, records: readonly SqsRecord[], remainingMs = 30_000) {
  const answer = await process.handleTimers(
    { Records: records },
    { getRemainingTimeInMillis: () => remainingMs },
  );
  return answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}

describe('a will that is due after a while', () => {
  it.each([10, 900, 2_000])(
    'of %i s is sent when it is due, by timers of at most a quarter of an hour',
    async (delay) => {
      const properties = { willDelayInterval: delay };
      await world.connect('a', {
        will: { ...WILL, properties },
        clean: false,
        properties: { sessionExpiryInterval: 100_000 },
      });
      await world.disconnect('a');
      await world.advance(delay - 1);
      expect(wills()).toEqual([]);
      await world.advance(1);
      expect(wills()).toEqual(['gone']);
      expect(remindersSent()).toHaveLength(Math.ceil(delay / 900));
    },
  );
});

it('the will of a client that was banned while it waited is not sent [SEC-BAN-3]', async () => {
  const properties = { willDelayInterval: 100 };
  await world.connect('a', {
    will: { ...WILL, properties },
    clean: false,
    properties: { sessionExpiryInterval: 1_000 },
  });
  await world.disconnect('a');
  // The list is written by the operator's function, which dies before it ends the session.
  const ban = { as: 'clientid', who: 'a', tenant: 'default', by: '', reason: '', atMs: 0 } as const;
  expect(await world.process().cloud.stores.bans.add(ban)).toBe(true);
  await world.advance(101);
  expect(wills()).toEqual([]);
});

describe('a lost connection', () => {
  const lost = async (fields: Fields) => {
    await world.connect('a', { will: WILL, ...fields });
    await world.disconnect('a');
    return remindersSent().map(({ body }) => JSON.parse(body).kind);
  };

  it('has one timer where its session ends as its will is due: of two, each would send the will', async () => {
    expect(await lost({})).toEqual(['will']);
    await world.advance(5);
    expect(wills()).toEqual(['gone']);
    expect(await world.process().cloud.stores.sessions.get('default', 'a')).toBeUndefined();
  });

  it('has a timer for each where the session ends later', async () => {
    const fields = { clean: false, properties: { sessionExpiryInterval: 3_600 } };
    expect(await lost(fields)).toEqual(['will', 'session-expiry']);
    await world.advance(3_599);
    expect(await world.process().cloud.stores.sessions.get('default', 'a')).toBeDefined();
    await world.advance(1);
    expect(await world.process().cloud.stores.sessions.get('default', 'a')).toBeUndefined();
    expect(wills()).toEqual(['gone']);
  });

  it('has its session ended by that timer also after a DISCONNECT of its client', async () => {
    await lost({});
    const { sessions } = world.process().cloud.stores;
    const record = await sessions.get('default', 'a');
    if (record === undefined) throw new Error('expected a session');
    await sessions.discardWill(record.session, 'a');
    await world.advance(5);
    expect(wills()).toEqual([]);
    expect(await sessions.get('default', 'a')).toBeUndefined();
  });
});

describe('the function of the timer queue', () => {
  it('moves a record that is no timer to the dead-letter queue at once, and goes on', async () => {
    await world.connect('a', { will: WILL });
    await world.disconnect('a');
    const due = remindersSent().map(({ body }, index) => recordOf(body, `good-${index}`));
    world.time.nowMs += 5_000;
    const process = world.process();
    const records = [recordOf('{"v":1,"kind":"poison"}', 'bad'), ...due];
    expect(await failuresOf(process, records)).toEqual([]);
    expect(world.deadLetters.entries).toEqual([{ body: '{"v":1,"kind":"poison"}' }]);
    expect(process.log).toContainEqual({
      level: 'error',
      event: 'timer-unreadable',
      fields: { messageId: 'bad' },
    });
    expect(wills()).toEqual(['gone']);
  });

  it('keeps a record that is no timer while the dead-letter queue does not take it', async () => {
    const process = world.process();
    world.deadLetters.send = () => Promise.reject(new Error('not now'));
    expect(await failuresOf(process, [recordOf('x', 'bad')])).toEqual(['bad']);
  });

  it('returns the timer that fails, and handles the others', async () => {
    for (const connectionId of ['a', 'b']) {
      await world.connect(connectionId, { will: { ...WILL, payload: Buffer.from(connectionId) } });
      await world.disconnect(connectionId);
    }
    const process = world.process();
    alterStores(process, ({ sessions }) => {
      const begin = sessions.beginWill.bind(sessions);
      sessions.beginWill = (session, ...call) =>
        session.clientId === 'a' ? Promise.reject(new Error('no')) : begin(session, ...call);
    });
    world.time.nowMs += 5_000;
    const records = remindersSent()
      .filter(({ body }) => body.includes('"will"'))
      .map(({ body }, index) => recordOf(body, `will-${index}`));
    expect(await failuresOf(process, records)).toEqual(['will-0']);
    expect(wills()).toEqual(['b']);
    expect(process.log.map(({ event }) => event)).toContain('timer-failed');
    expect(await failuresOf(world.process(), records)).toEqual([]);
    expect(wills()).toEqual(['b', 'a']);
  });

  it('begins no timer that it has no time to finish', async () => {
    await world.connect('a', { will: WILL });
    await world.disconnect('a');
    world.time.nowMs += 5_000;
    const records = remindersSent().map(({ body }, index) => recordOf(body, `timer-${index}`));
    expect(await failuresOf(world.process(), records, 4_999)).toEqual(
      records.map(({ messageId }) => messageId),
    );
    expect(wills()).toEqual([]);
  });

  it('handles a timer that comes twice once', async () => {
    await world.connect('a', { will: WILL });
    await world.disconnect('a');
    world.time.nowMs += 5_000;
    const records = remindersSent().map(({ body }, index) => recordOf(body, `timer-${index}`));
    for (let time = 0; time < 3; time += 1) await failuresOf(world.process(), records);
    expect(wills()).toEqual(['gone']);
  });
});

describe('clocks that disagree by seconds', () => {
  it.each([
    { setter: 3_000, firer: -3_000 },
    { setter: -3_000, firer: 3_000 },
    { setter: 3_000, firer: 3_000 },
  ])(
    'send the will once and arm no timer in a loop (set $setter ms, fired $firer ms ahead)',
    async (ahead) => {
      await world.connect('a', { will: WILL });
      await world.disconnect('a', 1006, world.process({ aheadMs: ahead.setter }));
      await world.advance(60, () => world.process({ aheadMs: ahead.firer }));
      expect(wills()).toEqual(['gone']);
      // At most again for the difference.
      expect(remindersSent().length).toBeLessThanOrEqual(2);
      expect(world.queue.length).toBeLessThanOrEqual(1);
    },
  );

  it('a timer that fires before the store finds its will due is set again', async () => {
    await world.connect('a', { will: WILL });
    await world.disconnect('a');
    // One that says it is due, by the clock of another process.
    const early = remindersSent().map(({ body }) =>
      recordOf(body.replace(/"dueAtMs":\d+/, `"dueAtMs":${world.time.nowMs}`)),
    );
    const before = world.queue.sent.length;
    expect(await failuresOf(world.process(), early)).toEqual([]);
    expect(wills()).toEqual([]);
    expect(world.queue.sent.slice(before).map(({ delaySeconds }) => delaySeconds)).toEqual([5]);
  });
});

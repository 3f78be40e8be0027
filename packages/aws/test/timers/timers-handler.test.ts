import { Unavailable } from '@apus/broker';
import { beforeEach, describe, expect, it } from 'vitest';
import { gate } from '../../../../test/support/gate.ts';
import type { Fields } from '../../../../test/support/text-client.ts';
import type { SqsRecord } from '../../src/events/sqs.ts';
import { PARALLEL_TIMERS_MAX, TIMER_ATTEMPTS_MAX } from '../../src/timers/handler.ts';
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

const recordOf = (body: string, messageId = 'm', receives = 1): SqsRecord => ({
  messageId,
  receiptHandle: messageId,
  body,
  attributes: { ApproximateReceiveCount: String(receives) },
});

/** The timers of these clients' wills, which are due. */
async function dueWills(clientIds: readonly string[]): Promise<readonly string[]> {
  for (const connectionId of clientIds) {
    await world.connect(connectionId, { will: { ...WILL, payload: Buffer.from(connectionId) } });
    await world.disconnect(connectionId);
  }
  world.time.nowMs += 5_000;
  return remindersSent().map(({ body }) => body);
}

/** The will of this client cannot be begun. */
function failsFor(process: Process, clientId: string, error: () => Error): void {
  alterStores(process, ({ sessions }) => {
    const begin = sessions.beginWill.bind(sessions);
    sessions.beginWill = (session, ...call) =>
      session.clientId === clientId ? Promise.reject(error()) : begin(session, ...call);
  });
}

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
    const records = [recordOf('{"v":1,"kind":"will"}', 'bad'), ...due];
    expect(await failuresOf(process, records)).toEqual([]);
    expect(world.deadLetters.entries).toEqual([{ body: '{"v":1,"kind":"will"}' }]);
    expect(process.log).toContainEqual({
      level: 'error',
      event: 'timer-dead-letter',
      fields: { messageId: 'bad', why: 'it is no timer', attempts: 1 },
    });
    expect(wills()).toEqual(['gone']);
  });

  it('keeps a record that is no timer while the dead-letter queue does not take it', async () => {
    const process = world.process();
    world.deadLetters.send = () => Promise.reject(new Error('not now'));
    expect(await failuresOf(process, [recordOf('x', 'bad')])).toEqual(['bad']);
  });

  it('returns the timer that fails, and handles the others', async () => {
    const records = (await dueWills(['a', 'b'])).map((body, index) => recordOf(body, `will-${index}`));
    const process = world.process();
    failsFor(process, 'a', () => new Error('no'));
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

describe('the timers of a batch', () => {
  it('are handled side by side, ten at a time', async () => {
    const clientIds = Array.from({ length: 12 }, (_, index) => `c${index}`);
    const bodies = await dueWills(clientIds);
    const process = world.process();
    const begun: string[] = [];
    const { opened, open } = gate();
    const tenHaveBegun = gate();
    alterStores(process, ({ sessions }) => {
      const begin = sessions.beginWill.bind(sessions);
      sessions.beginWill = async (session, ...call) => {
        begun.push(session.clientId);
        if (begun.length === PARALLEL_TIMERS_MAX) tenHaveBegun.open();
        await opened;
        return await begin(session, ...call);
      };
    });
    const failures = failuresOf(
      process,
      bodies.map((body, index) => recordOf(body, `timer-${index}`)),
    );
    await tenHaveBegun.opened;
    await new Promise(setImmediate);
    expect(begun).toEqual(clientIds.slice(0, 10));
    open();
    expect(await failures).toEqual([]);
    expect(wills().sort()).toEqual([...clientIds].sort());
  });
});

describe('a timer of a newer version', () => {
  it.each([
    ['version', (body: string) => body.replace('"v":1', '"v":2')],
    ['kind', (body: string) => body.replace('"will"', '"testament"')],
  ])('stays in the queue, however often it comes to code that does not know its %s', async (_, newer) => {
    const [body = ''] = await dueWills(['a']);
    for (const receives of [1, TIMER_ATTEMPTS_MAX, TIMER_ATTEMPTS_MAX + 1, 900]) {
      const process = world.process();
      expect(await failuresOf(process, [recordOf(newer(body), 'm', receives)])).toEqual(['m']);
      expect(process.log).toMatchObject([{ level: 'warn', event: 'timer-newer' }]);
    }
    expect(world.deadLetters.entries).toEqual([]);
    expect(await failuresOf(world.process(), [recordOf(body, 'm', 901)])).toEqual([]);
  });
});

describe('a timer that always fails', () => {
  it('is a dead letter after its attempts, with their number; the timers beside it fire', async () => {
    const [poison = '', other = ''] = await dueWills(['a', 'b']);
    for (let receives = 1; receives <= TIMER_ATTEMPTS_MAX; receives += 1) {
      const process = world.process();
      failsFor(process, 'a', () => new TypeError('a defect'));
      const records = [recordOf(poison, 'poison', receives), recordOf(other, 'other')];
      const isLast = receives === TIMER_ATTEMPTS_MAX;
      expect(await failuresOf(process, records)).toEqual(isLast ? [] : ['poison']);
      const buried = process.log.filter(({ event }) => event === 'timer-dead-letter');
      const fields = { messageId: 'poison', why: 'TypeError: a defect', attempts: TIMER_ATTEMPTS_MAX };
      expect(buried).toEqual(isLast ? [{ level: 'error', event: 'timer-dead-letter', fields }] : []);
    }
    expect(world.deadLetters.entries).toEqual([{ body: poison }]);
    expect(wills()).toEqual(['b']);
  });

  it('is a dead letter without another attempt where each one has ended its function', async () => {
    const [body = ''] = await dueWills(['a']);
    const process = world.process();
    failsFor(process, 'a', () => new Error('not tried'));
    expect(await failuresOf(process, [recordOf(body, 'm', TIMER_ATTEMPTS_MAX + 1)])).toEqual([]);
    expect(process.log.map(({ event }) => event)).toEqual(['timer-dead-letter']);
    expect(world.deadLetters.entries).toEqual([{ body }]);
  });
});

describe('a timer whose store is unavailable', () => {
  class Away extends Unavailable {
    readonly reasonCode = 0x97;
  }

  it('is put off as a new message, which is no attempt', async () => {
    const [body = ''] = await dueWills(['a']);
    const process = world.process();
    failsFor(process, 'a', () => new Away('throttled'));
    const before = world.queue.sent.length;
    expect(await failuresOf(process, [recordOf(body, 'm', TIMER_ATTEMPTS_MAX)])).toEqual([]);
    expect(world.queue.sent.slice(before)).toEqual([{ body, delaySeconds: 30 }]);
    expect(process.log).toMatchObject([
      { level: 'warn', event: 'timer-put-off', fields: { reason: 'throttled' } },
    ]);
    await world.advance(30);
    expect(wills()).toEqual(['a']);
    expect(world.deadLetters.entries).toEqual([]);
  });

  it('comes again by itself where the queue is unavailable, too', async () => {
    const [body = ''] = await dueWills(['a']);
    const process = world.process();
    failsFor(process, 'a', () => new Away('throttled'));
    world.queue.send = () => Promise.reject(new Error('no queue'));
    expect(await failuresOf(process, [recordOf(body)])).toEqual(['m']);
  });

  it('is a dead letter when it has been due for half a day', async () => {
    const [body = ''] = await dueWills(['a']);
    const process = world.process();
    failsFor(process, 'a', () => new Away('throttled'));
    world.time.nowMs += 12 * 3_600_000 + 1;
    expect(await failuresOf(process, [recordOf(body)])).toEqual([]);
    expect(world.deadLetters.entries).toEqual([{ body }]);
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

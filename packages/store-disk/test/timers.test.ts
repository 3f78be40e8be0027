import type { OpenSession, WillDue } from '@apus/broker';
import type { Will } from '@apus/mqtt';
import { createDiskStores } from '@apus/store-disk';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from './support/directory.ts';
import {
  attachmentOf,
  deliveryTo,
  detachOf,
  messageOf,
  NOW_MS,
  openedOf,
  openOf,
  PAGE,
  ROOMY,
} from './support/values.ts';

const WILL: Will = { topic: 'gone', payload: Buffer.from('bye'), qos: 1, retain: false, properties: {} };
const RESTART_MS = NOW_MS + 1_000_000;
const GRACE_SECONDS = 30;

let directory: string;

beforeEach(() => {
  directory = temporaryDirectory();
});

const openAt = (nowMs: number) =>
  createDiskStores({ directory, clock: { now: () => nowMs }, willGraceSeconds: GRACE_SECONDS });

function dueOf(will: Will | undefined, lostAtMs: number): WillDue | undefined {
  if (will === undefined) return undefined;
  return { atMs: lostAtMs + (will.properties.willDelayInterval ?? 0) * 1000, isWithdrawnByReturn: false };
}

/** The timers that become due after a restart, in seconds from it. */
async function dueAfterRestart(restartMs = RESTART_MS): Promise<string[]> {
  const stores = await openAt(restartMs);
  await stores.close();
  return stores.dueTimers.map(({ timer, dueAtMs }) => {
    const { kind, session, connectionId } = timer;
    return `${kind} of ${session.clientId} by ${connectionId} in ${(dueAtMs - restartMs) / 1000}`;
  });
}

async function leave(fields: Partial<OpenSession>, lostAtMs?: number): Promise<void> {
  const stores = await openAt(NOW_MS);
  const { session } = openedOf(await stores.sessions.open(openOf('a', fields)));
  if (lostAtMs !== undefined)
    await stores.sessions.detach(
      detachOf(session, {
        connectionId: 'a:1',
        expirySeconds: fields.expirySeconds ?? 60,
        nowMs: lostAtMs,
        will: dueOf(fields.will, lostAtMs),
      }),
    );
  await stores.close();
}

describe('a session that was connected when the process died', () => {
  it('expires as if its connection had ended at the start', async () => {
    await leave({ expirySeconds: 60 });
    expect(await dueAfterRestart()).toEqual(['session-expiry of a by a:1 in 60']);
  });

  it('sends its will after a grace, so that its client can return before', async () => {
    await leave({ expirySeconds: 60, will: WILL });
    expect(await dueAfterRestart()).toEqual([
      `will of a by a:1 in ${GRACE_SECONDS}`,
      'session-expiry of a by a:1 in 60',
    ]);
  });

  it('sends its will after its own delay where that is longer', async () => {
    await leave({ expirySeconds: 60, will: { ...WILL, properties: { willDelayInterval: 45 } } });
    expect((await dueAfterRestart())[0]).toBe('will of a by a:1 in 45');
  });

  it('does not live longer for a second crash, and its will has the grace again', async () => {
    await leave({ expirySeconds: 60, will: WILL });
    await dueAfterRestart(RESTART_MS - 10_000);
    expect(await dueAfterRestart()).toEqual([
      `will of a by a:1 in ${GRACE_SECONDS}`,
      'session-expiry of a by a:1 in 50',
    ]);
  });

  it('never expires with an expiry of 0xFFFFFFFF', async () => {
    await leave({ expirySeconds: 0xffff_ffff });
    expect(await dueAfterRestart()).toEqual([]);
  });
});

describe('a session that was offline', () => {
  it('expires when it would have', async () => {
    await leave({ expirySeconds: 2000 }, NOW_MS);
    expect(await dueAfterRestart()).toEqual(['session-expiry of a by a:1 in 1000']);
  });

  it('is over at once when its time came meanwhile', async () => {
    await leave({ expirySeconds: 60 }, NOW_MS);
    expect(await dueAfterRestart()).toEqual(['session-expiry of a by a:1 in -940']);
  });

  it('sends a delayed will when it would have, and not in the first moments', async () => {
    await leave({ expirySeconds: 2000, will: { ...WILL, properties: { willDelayInterval: 1100 } } }, NOW_MS);
    expect((await dueAfterRestart())[0]).toBe('will of a by a:1 in 100');
    expect((await dueAfterRestart(NOW_MS + 1_090_000))[0]).toBe(`will of a by a:1 in ${GRACE_SECONDS}`);
  });

  it.each([2_000, 3_600_000])(
    'waits no longer than it ever had to where the wall clock went back by %i ms',
    async (ms) => {
      await leave(
        { expirySeconds: 2000, will: { ...WILL, properties: { willDelayInterval: 1100 } } },
        NOW_MS,
      );
      const whole = ['will of a by a:1 in 1100', 'session-expiry of a by a:1 in 2000'];
      expect(await dueAfterRestart(NOW_MS - ms)).toEqual(whole);
      expect(await dueAfterRestart(NOW_MS - ms + 100_000)).toEqual([
        'will of a by a:1 in 1000',
        'session-expiry of a by a:1 in 1900',
      ]);
    },
  );
});

/** After a restart, when the will's timer has fired. */
async function afterGrace() {
  const restartMs = RESTART_MS;
  const stores = await openAt(restartMs);
  const [due] = stores.dueTimers;
  if (due === undefined) throw new Error('expected a timer');
  const { session, connectionId } = due.timer;
  return { stores, session, connectionId, nowMs: restartMs + GRACE_SECONDS * 1000 };
}

it('finds the will, and the identity that brought it, when the timer fires', async () => {
  await leave({ will: WILL });
  const { stores, session, connectionId, nowMs } = await afterGrace();
  expect(await stores.sessions.beginWill(session, connectionId, 'm', nowMs - 1)).toEqual({
    state: 'not-due',
    dueAtMs: nowMs,
  });
  const identity = openOf('a').identity;
  const claim = { state: 'begun', will: WILL, identity, messageId: 'm', isRepeat: false };
  expect(await stores.sessions.beginWill(session, connectionId, 'm', nowMs)).toEqual(claim);
  await stores.sessions.doneWill(session, connectionId);
  expect(await stores.sessions.remove(session, connectionId)).toBe(true);
  await stores.close();
  expect(await dueAfterRestart()).toEqual([]);
});

it('withdraws the will of a client that is back in time', async () => {
  await leave({ will: WILL });
  const stores = await openAt(RESTART_MS);
  const { previous, present, owedWillOf } = openedOf(await stores.sessions.open(openOf('a')));
  expect({ present, will: previous?.will, attachment: previous?.attachment, owedWillOf }).toEqual({
    present: true,
    will: WILL,
    attachment: undefined,
    owedWillOf: undefined,
  });
  await stores.close();
});

describe('a process that dies while it publishes a will', () => {
  /** Begins the will of `a` and offers its message to `b`; then the process ends. */
  async function die(owed: 'no' | 'taken over' | 'removed'): Promise<void> {
    const stores = await openAt(NOW_MS);
    const { sessions, queues } = stores;
    const b = openedOf(await sessions.open(openOf('b'))).session;
    await sessions.detach(detachOf(b, { connectionId: 'b:1' }));
    const { session } = openedOf(await sessions.open(openOf('a', { will: WILL })));
    const due = { atMs: NOW_MS, isWithdrawnByReturn: false };
    await sessions.detach(detachOf(session, { connectionId: 'a:1', will: due }));
    await sessions.beginWill(session, 'a:1', messageOf(1).id, NOW_MS);
    await queues.offer(messageOf(1, { qos: 2 }), [deliveryTo(b, { qos: 2, copy: '' })], ROOMY);
    if (owed === 'taken over') await sessions.open(openOf('a', { attachment: attachmentOf('a:2') }));
    if (owed === 'removed') await sessions.remove(session);
    await stores.close();
  }

  it.each(['no', 'taken over', 'removed'] as const)(
    'leaves it to the next, as the same message, which no session gets twice (owed: %s)',
    async (owed) => {
      await die(owed);
      const stores = await openAt(RESTART_MS);
      const timer = stores.dueTimers.find(
        ({ timer: { kind, connectionId } }) => kind === 'will' && connectionId === 'a:1',
      )?.timer;
      if (timer === undefined) throw new Error('expected a timer');
      const lateMs = RESTART_MS + 1_000_000;
      const claim = await stores.sessions.beginWill(timer.session, 'a:1', 'another', lateMs);
      expect(claim).toMatchObject({
        state: 'begun',
        will: WILL,
        messageId: messageOf(1).id,
        isRepeat: true,
      });
      const { session: b } = (await stores.sessions.get('tenant', 'b')) ?? {};
      if (b === undefined) throw new Error('expected a session');
      await stores.queues.offer(messageOf(1, { qos: 2 }), [deliveryTo(b, { qos: 2, copy: '' })], ROOMY);
      await stores.sessions.doneWill(timer.session, 'a:1');
      const { session: back } = openedOf(await stores.sessions.open(openOf('b', { nowMs: NOW_MS })));
      expect(await stores.queues.next(back, PAGE, NOW_MS)).toHaveLength(1);
      await stores.close();
      const again = await openAt(RESTART_MS);
      expect(await again.sessions.beginWill(timer.session, 'a:1', 'x', lateMs)).toEqual({ state: 'none' });
      await again.close();
    },
  );
});

it('a will that is owed and was not begun is sent after a restart', async () => {
  const stores = await openAt(NOW_MS);
  await stores.sessions.open(openOf('a', { will: WILL }));
  await stores.sessions.open(
    openOf('a', {
      attachment: attachmentOf('a:2'),
      isWillOwed: () => true,
      will: { ...WILL, topic: 'second' },
    }),
  );
  await stores.close();
  expect(await dueAfterRestart()).toEqual([
    `will of a by a:2 in ${GRACE_SECONDS}`,
    'session-expiry of a by a:2 in 60',
    `will of a by a:1 in ${GRACE_SECONDS}`,
  ]);
});

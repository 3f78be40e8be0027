import type { OpenSession } from '@apus/broker';
import type { Will } from '@apus/mqtt';
import { createDiskStores } from '@apus/store-disk';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from './support/directory.ts';
import { NOW_MS, openOf } from './support/values.ts';

const WILL: Will = { topic: 'gone', payload: Buffer.from('bye'), qos: 1, retain: false, properties: {} };
const RESTART_MS = NOW_MS + 1_000_000;
const GRACE_SECONDS = 30;

let directory: string;

beforeEach(() => {
  directory = temporaryDirectory();
});

const openAt = (nowMs: number) =>
  createDiskStores({ directory, clock: { now: () => nowMs }, willGraceSeconds: GRACE_SECONDS });

/** What is due after a restart, in seconds from it. */
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
  const { session } = await stores.sessions.open(openOf('a', fields));
  if (lostAtMs !== undefined)
    await stores.sessions.detach(session, 'a:1', fields.expirySeconds ?? 60, lostAtMs);
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
});

it('finds the will, and who brought it, when the timer rings', async () => {
  await leave({ will: WILL });
  const stores = await openAt(RESTART_MS);
  const [due] = stores.dueTimers;
  if (due === undefined) throw new Error('expected a timer');
  const { session, connectionId } = due.timer;
  expect(await stores.sessions.takeWill(session, connectionId)).toEqual(WILL);
  expect(await stores.sessions.remove(session, connectionId)).toBe(true);
  await stores.close();
  expect(await dueAfterRestart()).toEqual([]);
});

it('hands the will to a client that is back in time', async () => {
  await leave({ will: WILL });
  const stores = await openAt(RESTART_MS);
  const { previous, present } = await stores.sessions.open(openOf('a'));
  expect({ present, will: previous?.will, attachment: previous?.attachment }).toEqual({
    present: true,
    will: WILL,
    attachment: undefined,
  });
  await stores.close();
});

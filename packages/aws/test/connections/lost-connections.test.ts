import type { Link, LinkState } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { LostConnections } from '../../src/connections/lost-connections.ts';
import type { MakeBroker } from '../../src/index.ts';
import { environmentWhere } from '../support/doings.ts';

const gone = (connectionId: string) => ({ connectionId, outcome: 'gone', isLoss: true, packets: 1 }) as const;

/** Ends of connections go on when they are let. */
function held() {
  const waiting: (() => void)[] = [];
  const begun: string[] = [];
  let isOpen = false;
  const beforeEnd = async (connectionId: string) => {
    begun.push(connectionId);
    if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const open = () => {
    isOpen = true;
    for (const resolve of waiting) resolve();
  };
  return { beforeEnd, begun, open };
}

describe('a lost connection that a slice waits for', () => {
  it('is closed before lost connections that no slice waits for', async () => {
    const { beforeEnd, begun, open } = held();
    const { environment } = environmentWhere('gone', beforeEnd);
    const lost = new LostConnections(environment, () => true);
    const names = Array.from({ length: 20 }, (_, index) => `c${index}`);
    for (const name of names) lost.add(gone(name));
    const atOnce = begun.length;
    expect(lost.isClosing('c19')).toBe(true);
    const isClosed = lost.closed('c19');
    open();
    await isClosed;
    expect(lost.isClosing('c19')).toBe(false);
    await lost.done();
    expect(begun.indexOf('c19')).toBe(atOnce);
    expect([...begun].sort()).toEqual([...names].sort());
  });

  it('is not waited for when it could not be ended', async () => {
    const { environment } = environmentWhere('gone', () => {
      throw new Error('the store is not there');
    });
    const lost = new LostConnections(environment, () => true);
    lost.add(gone('c'));
    await lost.closed('c');
    expect(lost.isClosing('c')).toBe(false);
    await lost.done();
  });

  it('is not waited for when the time is out, nor is one that was never lost', async () => {
    const { environment, done } = environmentWhere('gone');
    const lost = new LostConnections(environment, () => false);
    lost.add(gone('c'));
    await lost.closed('c');
    await lost.closed('another');
    expect(done).toEqual([]);
  });

  it('is reported by its slices when it could not be closed in time', async () => {
    const loses = (connectionId: string) => ({ ...gone(connectionId), outcome: 'throttled' }) as const;
    const { environment } = environmentWhere('sent', (connectionId) => {
      if (connectionId === 'fails') throw new Error('the store is not there');
    });
    let hasTime = true;
    const lost = new LostConnections(environment, () => hasTime);
    const told: string[] = [];
    for (const name of ['closed', 'fails']) lost.add(loses(name), [() => void told.push(name)]);
    await lost.allClosed();
    expect(told).toEqual(['fails']);
    hasTime = false;
    lost.add(loses('late'), [() => void told.push('late')]);
    await lost.allClosed();
    expect(told).toEqual(['fails', 'late']);
    await lost.done();
  });

  it('is closed although all that are being ended wait for it', async () => {
    const { environment } = environmentWhere('gone');
    const names = Array.from({ length: 12 }, (_, index) => `c${index}`);
    const told: string[] = [];
    // The message that it leaves goes to a session whose connection is lost too.
    const tell = async ({ id }: Link) => {
      await lost.closed('last');
      told.push(id);
    };
    const makeBroker: MakeBroker = (outbox, kind) => {
      const made = environment.makeBroker(outbox, kind);
      return { ...made, broker: { ...made.broker, lost: tell } };
    };
    const connected = { phase: 'connected', connection: { session: {} } } as LinkState;
    const links = { ...environment.links, end: async () => connected };
    const lost = new LostConnections({ ...environment, makeBroker, links }, () => true);
    for (const name of [...names, 'last']) lost.add(gone(name));
    await lost.done();
    expect(told.sort()).toEqual([...names, 'last'].sort());
  });
});

describe('a message for a session whose client has come back while its lost connection was being ended', () => {
  const session = { attachment: { keepsNothing: true } };
  const identity = { tenant: 'default', name: 'ada' };
  const stateOf = (resumeSeconds: number | undefined) =>
    ({ phase: 'connected', connection: { session, identity, resumeSeconds } }) as LinkState;
  const goneUnkept = { ...gone('old'), isLoss: false };

  /** A worker has found the old connection gone, and its session goes on over the new one before `when`. */
  async function miss(resumeSeconds: number | undefined, when: 'end' | 'keep') {
    const { environment, done } = environmentWhere('gone');
    const { links } = environment;
    await links.save('old', stateOf(resumeSeconds));
    await links.save('new', stateOf(resumeSeconds));
    const comesBack = async () => {
      await links.end('old');
      await links.resume('old', 'new');
    };
    const keep = async (connectionId: string, packets: readonly Uint8Array[]) => {
      if (when === 'keep' && connectionId === 'old') await comesBack();
      return await links.keep(connectionId, packets);
    };
    if (when === 'end') await comesBack();
    done.length = 0;
    const lost = new LostConnections({ ...environment, links: { ...links, keep } }, () => true);
    lost.add(goneUnkept);
    await lost.done();
    return { done, present: await links.load('new') };
  }

  it.each(['end', 'keep'] as const)('is reported to the client as missing (before: %s)', async (when) => {
    const { done, present } = await miss(60, when);
    expect(done).toContain('delete new');
    expect(present).toMatchObject({ phase: 'closed', hasMissed: true });
  });

  it('is not reported to a client whose transport does not understand the report', async () => {
    const { done, present } = await miss(undefined, 'end');
    expect(done).not.toContain('delete new');
    expect(present).toMatchObject({ phase: 'connected' });
  });
});

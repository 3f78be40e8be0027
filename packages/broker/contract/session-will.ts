import type { Will } from '@apus/mqtt';
import { beforeEach, describe, expect, it } from 'vitest';
import type { OpenSession, SessionRecord, SessionRef, SessionStore, WillClaim } from '../src/index.ts';
import { Client, copyOf, type MakeStores, messageId, NOW_MS, WILL } from './support.ts';

const NONE: WillClaim = { state: 'none' };
const SECOND: Will = { ...WILL, topic: 'second' };
const THIRD: Will = { ...WILL, topic: 'third' };

/** How a will is published: begun and done with, by any process, under one message id. */
export function sessionWillContract(makeStores: MakeStores): void {
  let client: Client;
  let sessions: SessionStore;
  let ids = 0;
  let ref: SessionRef;

  beforeEach(async () => {
    client = new Client(await makeStores());
    sessions = client.stores.sessions;
    ids = 0;
  });

  const stored = async () => await sessions.get(client.tenant, client.clientId);

  /** Under an id of its own each time. The session's key is all that is asked of the ref. */
  const begin = async (connectionId = client.connectionId, nowMs = NOW_MS): Promise<WillClaim> => {
    ids += 1;
    return await sessions.beginWill(copyOf(ref), connectionId, messageId(ids), nowMs);
  };
  const done = async (connectionId = client.connectionId) =>
    await sessions.doneWill(copyOf(ref), connectionId);
  const discard = async (connectionId = client.connectionId) =>
    await sessions.discardWill(copyOf(ref), connectionId);

  /** Connects, and says which connection it is. */
  const open = async (fields: Partial<OpenSession> = {}) => {
    const opened = await client.open(fields);
    ref = opened.session;
    return { ...opened, connectionId: client.connectionId };
  };

  describe('beginWill', () => {
    it('gives the whole will of a connection that has ended [MQTT-3.1.2-8]', async () => {
      const will: Will = {
        ...WILL,
        retain: true,
        properties: { willDelayInterval: 3, contentType: 'text' },
      };
      await open({ will });
      await client.lose();
      const claim = await begin();
      expect(claim).toMatchObject({ state: 'begun', messageId: messageId(1), isRepeat: false });
      if (claim.state !== 'begun') return;
      const payload = Buffer.from(claim.will.payload).toString();
      expect({ ...claim.will, payload }).toEqual({ ...will, payload: 'bye' });
    });

    it('gives it again until it is done with, as the same message', async () => {
      await open({ will: WILL });
      await client.lose();
      await begin();
      const again = { state: 'begun', messageId: messageId(1), isRepeat: true, will: { topic: 'gone' } };
      expect(await begin()).toMatchObject(again);
      expect(await begin()).toMatchObject(again);
      expect((await stored())?.will).toMatchObject({ topic: 'gone' });
    });

    it('agrees on one message with all concurrent callers', async () => {
      await open({ will: WILL });
      await client.lose();
      const claims = await Promise.all([begin(), begin(), begin()]);
      const begun = claims.filter((claim) => claim.state === 'begun');
      expect(begun).toHaveLength(3);
      expect(new Set(begun.map((claim) => claim.messageId)).size).toBe(1);
      expect(begun.filter(({ isRepeat }) => !isRepeat)).toHaveLength(1);
    });

    it('finds nothing while the connection is there', async () => {
      await open({ will: WILL });
      expect(await begin()).toEqual(NONE);
      expect((await stored())?.will).toMatchObject({ topic: 'gone' });
    });

    it('finds nothing where the connection brought none', async () => {
      await open();
      await client.lose();
      expect(await begin()).toEqual(NONE);
    });

    it('finds no will of a session that has never existed', async () => {
      const { session } = await client.open();
      const unknownSession = { ...copyOf(session), key: `${session.key}x`, clientId: `${session.clientId}x` };
      expect(await sessions.beginWill(unknownSession, 'x', messageId(1), NOW_MS)).toEqual(NONE);
    });

    it('waits until the will is due, to the millisecond', async () => {
      await open({ will: WILL });
      const dueAtMs = NOW_MS + 5000;
      await client.detach({ will: { atMs: dueAtMs, isWithdrawnByReturn: false } });
      expect(await begin(client.connectionId, dueAtMs - 1)).toEqual({ state: 'not-due', dueAtMs });
      expect(await begin(client.connectionId, dueAtMs)).toMatchObject({ state: 'begun', isRepeat: false });
    });

    it('does not give the will of one connection to the end of another', async () => {
      const first = await open();
      await open({ will: WILL });
      await client.lose();
      expect(await begin(first.connectionId)).toEqual(NONE);
      expect(await begin()).toMatchObject({ state: 'begun' });
    });
  });

  describe('doneWill', () => {
    it('ends it', async () => {
      await open({ will: WILL });
      await client.lose();
      await begin();
      await done();
      expect(await begin()).toEqual(NONE);
      expect(await stored()).toMatchObject({ will: undefined, willDue: undefined });
      const { owedWillOf, previous } = await open({ isWillOwed: () => true });
      expect({ owedWillOf, will: previous?.will }).toEqual({ owedWillOf: undefined, will: undefined });
    });

    it('does nothing twice, and nothing to a will that was not begun', async () => {
      await open({ will: WILL });
      await client.lose();
      await done();
      await begin();
      await done();
      await done();
      expect(await begin()).toEqual(NONE);
    });

    it('leaves the will of another connection', async () => {
      const first = await open({ will: WILL });
      await client.lose();
      await begin();
      await open({ will: SECOND });
      await done(first.connectionId);
      await client.lose();
      expect(await begin()).toMatchObject({ state: 'begun', will: { topic: 'second' } });
    });
  });

  describe('discardWill', () => {
    it('forgets a will whose connection was noticed to be lost before its DISCONNECT came', async () => {
      await open({ will: WILL });
      await client.lose();
      await discard();
      expect(await begin()).toEqual(NONE);
      expect((await stored())?.will).toBeUndefined();
    });

    it('leaves one that has been begun', async () => {
      await open({ will: WILL });
      await client.lose();
      await begin();
      await discard();
      expect(await begin()).toMatchObject({ state: 'begun', messageId: messageId(1), isRepeat: true });
    });

    it('leaves the will of another connection', async () => {
      const first = await open();
      await open({ will: WILL });
      await discard(first.connectionId);
      expect((await stored())?.will).toMatchObject({ topic: 'gone' });
    });
  });

  describe.each([false, true])('open, Clean Start %s', (cleanStart) => {
    it('asks whether a will is owed if there is one, and not otherwise', async () => {
      const asked: [SessionRecord, boolean][] = [];
      const isWillOwed: OpenSession['isWillOwed'] = (previous, present) => {
        asked.push([previous, present]);
        return false;
      };
      await open({ isWillOwed });
      await open({ isWillOwed, cleanStart, will: WILL, nowMs: NOW_MS + 1 });
      expect(asked).toEqual([]);
      const willDue = { atMs: NOW_MS + 7, isWithdrawnByReturn: true };
      await client.detach({ nowMs: NOW_MS + 2, will: willDue });
      await open({ isWillOwed, cleanStart, nowMs: NOW_MS + 3 });
      expect(asked.length).toBeGreaterThan(0);
      for (const [previous, present] of asked) {
        expect(present).toBe(!cleanStart);
        expect(previous).toMatchObject({
          will: { topic: 'gone' },
          willDue,
          attachedAtMs: NOW_MS + 1,
          detachedAtMs: NOW_MS + 2,
          attachment: undefined,
        });
      }
    });

    it('withdraws a will that is not owed [MQTT-3.1.3-9]', async () => {
      const first = await open({ will: WILL });
      await client.lose();
      const { owedWillOf, previous } = await open({ cleanStart, isWillOwed: () => false });
      expect(owedWillOf).toBeUndefined();
      expect(previous?.will).toMatchObject({ topic: 'gone' });
      expect(await begin(first.connectionId)).toEqual(NONE);
      expect((await stored())?.will).toBeUndefined();
    });

    it.each([false, true])('keeps an owed will until it is done (taken over: %s)', async (isTaken) => {
      const first = await open({ will: WILL });
      if (!isTaken) await client.lose();
      const { owedWillOf } = await open({ cleanStart, will: SECOND, isWillOwed: () => true });
      expect(owedWillOf).toBe(first.connectionId);
      expect(await begin(first.connectionId)).toMatchObject({ will: { topic: 'gone' }, isRepeat: false });
      expect(await begin(first.connectionId)).toMatchObject({ will: { topic: 'gone' }, isRepeat: true });
      await done(first.connectionId);
      expect(await begin(first.connectionId)).toEqual(NONE);
      expect((await stored())?.will).toMatchObject({ topic: 'second' });
    });

    it('owes a will that has been begun, whatever the rule decides, and keeps its message', async () => {
      const first = await open({ will: WILL });
      await client.lose();
      await begin();
      const { owedWillOf } = await open({ cleanStart, isWillOwed: () => false });
      expect(owedWillOf).toBe(first.connectionId);
      expect(await begin(first.connectionId)).toMatchObject({ messageId: messageId(1), isRepeat: true });
    });

    it('keeps the wills of many connections that were taken over one after the other', async () => {
      const isWillOwed = () => true;
      const first = await open({ will: WILL });
      const second = await open({ cleanStart, will: SECOND, isWillOwed });
      const third = await open({ cleanStart, will: THIRD, isWillOwed });
      const last = await open({ cleanStart, isWillOwed });
      expect(last.owedWillOf).toBe(third.connectionId);
      for (const { connectionId } of [second, first, third]) await begin(connectionId);
      await done(second.connectionId);
      expect(await begin(first.connectionId)).toMatchObject({ will: { topic: 'gone' }, isRepeat: true });
      expect(await begin(second.connectionId)).toEqual(NONE);
      expect(await begin(third.connectionId)).toMatchObject({ will: { topic: 'third' }, isRepeat: true });
    });

    it('lets a DISCONNECT discard an owed will that has not been begun', async () => {
      const isWillOwed = () => true;
      const first = await open({ will: WILL });
      const second = await open({ cleanStart, will: SECOND, isWillOwed });
      await begin(first.connectionId);
      await open({ cleanStart, isWillOwed });
      await discard(first.connectionId);
      await discard(second.connectionId);
      expect(await begin(first.connectionId)).toMatchObject({ isRepeat: true });
      expect(await begin(second.connectionId)).toEqual(NONE);
    });
  });

  describe.each([false, true])('remove, where it was read that the session has rooms: %s', (hasRooms) => {
    const remove = (session: SessionRef) => sessions.remove(session, undefined, hasRooms);

    it('leaves a will that has been begun', async () => {
      const { session } = await open({ will: WILL });
      await client.lose();
      await begin();
      expect(await remove(session)).toBe(true);
      expect(await stored()).toBeUndefined();
      expect(await remove(session)).toBe(false);
      expect(await begin()).toMatchObject({
        will: { topic: 'gone' },
        messageId: messageId(1),
        isRepeat: true,
      });
      await done();
      expect(await begin()).toEqual(NONE);
    });

    it('leaves a will that is owed', async () => {
      const first = await open({ will: WILL });
      const { session } = await open({ isWillOwed: () => true });
      await client.lose();
      expect(await remove(session)).toBe(true);
      expect(await stored()).toBeUndefined();
      expect(await begin(first.connectionId)).toMatchObject({ will: { topic: 'gone' }, isRepeat: false });
    });

    it.each([false, true])(
      'is followed by another session, which is new (Clean Start %s)',
      async (cleanStart) => {
        const first = await open({ will: WILL });
        await client.lose();
        await begin();
        await remove(first.session);
        const second = await open({ cleanStart, will: SECOND });
        expect({ present: second.present, previous: second.previous }).toEqual({
          present: false,
          previous: undefined,
        });
        expect(second.session.incarnation).not.toBe(first.session.incarnation);
        expect(await begin(first.connectionId)).toMatchObject({ messageId: messageId(1), isRepeat: true });
        await done(first.connectionId);
        await client.lose();
        expect(await begin()).toMatchObject({ will: { topic: 'second' }, isRepeat: false });
      },
    );
  });
}

import { beforeEach, describe, expect, it } from 'vitest';
import type { SessionRef, SessionStore } from '../src/index.ts';
import { Client, copyOf, type MakeStores, messageId, NOW_MS, WILL } from './support.ts';

/** How a connection leaves its session, what becomes of its will, and how a session is forgotten. */
export function sessionEndContract(makeStores: MakeStores): void {
  let client: Client;
  let sessions: SessionStore;

  beforeEach(async () => {
    client = new Client(await makeStores());
    sessions = client.stores.sessions;
  });

  const stored = async () => await sessions.get(client.tenant, client.clientId);

  describe('get', () => {
    it('finds no session of a client that has never connected', async () => {
      expect(await stored()).toBeUndefined();
    });

    it('shows the connection as it was at the moment of the call', async () => {
      await client.open();
      const { connectionId } = client;
      const record = await stored();
      await client.lose();
      expect(record?.attachment?.connectionId).toBe(connectionId);
      expect(record?.detachedAtMs).toBeUndefined();
      expect((await client.session()).attachment).toBeUndefined();
    });
  });

  describe('detach', () => {
    it('returns the record as it then stands, and stores it', async () => {
      const { session } = await client.open({ will: WILL });
      const willDue = { atMs: NOW_MS + 9, isWithdrawnByReturn: true };
      const detached = await client.detach({ expirySeconds: 30, nowMs: NOW_MS + 5, will: willDue });
      for (const record of [detached, await stored()]) {
        expect(record).toMatchObject({
          lastConnectionId: client.connectionId,
          attachedAtMs: NOW_MS,
          expirySeconds: 30,
          detachedAtMs: NOW_MS + 5,
          will: { topic: 'gone' },
          willDue,
          identity: { name: 'somebody' },
        });
        expect(record?.attachment).toBeUndefined();
        expect(record?.session.incarnation).toBe(session.incarnation);
      }
    });

    it('returns the record once', async () => {
      await client.open();
      expect(await client.detach()).toBeDefined();
      expect(await client.detach({ expirySeconds: 0, nowMs: NOW_MS + 1 })).toBeUndefined();
      expect(await stored()).toMatchObject({ expirySeconds: 60, detachedAtMs: NOW_MS });
    });

    it('takes a copy of the ref', async () => {
      const { session } = await client.open();
      expect(await client.detach({ session: copyOf(session) })).toBeDefined();
    });

    it('discards the will of a client that sends DISCONNECT [MQTT-3.1.2-10]', async () => {
      const { session } = await client.open({ will: WILL });
      const record = await client.detach({ will: 'discarded' });
      expect(record).toMatchObject({ will: undefined, willDue: undefined });
      expect((await stored())?.will).toBeUndefined();
      const { connectionId } = client;
      expect(await sessions.beginWill(session, connectionId, messageId(1), NOW_MS)).toEqual({
        state: 'none',
      });
    });
  });

  describe('end', () => {
    const end = async (connectionId = client.connectionId) =>
      await sessions.end({ session: await client.session(), connectionId, nowMs: NOW_MS });

    it('forgets the session of a connection that has ended, once', async () => {
      const { session } = await client.open();
      expect(await end()).toBe('ended');
      expect(await stored()).toBeUndefined();
      const again = { session: copyOf(session), connectionId: client.connectionId, nowMs: NOW_MS };
      expect(await sessions.end(again)).toBe('not-owned');
    });

    it('forgets the will that the connection brought [MQTT-3.1.2-10]', async () => {
      const { session } = await client.open({ will: WILL });
      expect(await end()).toBe('ended');
      const { connectionId } = client;
      expect(await sessions.beginWill(session, connectionId, messageId(1), NOW_MS)).toEqual({
        state: 'none',
      });
    });

    it('leaves a session that another connection has taken over', async () => {
      await client.open();
      const { connectionId: first } = client;
      await client.open();
      expect(await end(first)).toBe('not-owned');
      expect((await stored())?.attachment?.connectionId).toBe(client.connectionId);
    });

    it('leaves a session that has lost its connection', async () => {
      await client.open();
      await client.lose();
      expect(await end()).toBe('not-owned');
      expect(await stored()).toBeDefined();
    });

    it('leaves a newer incarnation', async () => {
      const { session } = await client.open();
      const { connectionId } = client;
      await client.open({ cleanStart: true });
      expect(await sessions.end({ session, connectionId, nowMs: NOW_MS })).toBe('not-owned');
      expect(await stored()).toBeDefined();
    });

    it('keeps a will of an earlier connection that has been begun', async () => {
      await client.open({ will: WILL });
      const { connectionId: mortal } = client;
      const session = await client.lose();
      await sessions.beginWill(session, mortal, messageId(1), NOW_MS);
      await client.open();
      if ((await end()) === 'owes-more') expect(await stored()).toBeDefined();
      const claim = await sessions.beginWill(session, mortal, messageId(2), NOW_MS);
      expect(claim).toMatchObject({ state: 'begun', messageId: messageId(1), isRepeat: true });
    });

    it('is followed by another incarnation', async () => {
      const { session } = await client.open();
      await end();
      const second = await client.open();
      expect(second.previous).toBeUndefined();
      expect(second.session.incarnation).not.toBe(session.incarnation);
    });
  });

  // That it has rooms is a hint: none of these has.
  describe.each([false, true])('remove, where it was read that the session has rooms: %s', (hasRooms) => {
    const remove = (session: SessionRef, last?: string) => sessions.remove(session, last, hasRooms);

    it('forgets a session that is offline, once', async () => {
      await client.open();
      const session = await client.lose();
      expect(await remove(session)).toBe(true);
      expect(await stored()).toBeUndefined();
      expect(await remove(session)).toBe(false);
    });

    it('takes a copy of the ref', async () => {
      await client.open();
      expect(await remove(copyOf(await client.lose()))).toBe(true);
      expect(await stored()).toBeUndefined();
    });

    it('forgets the will with it', async () => {
      await client.open({ will: WILL });
      const session = await client.lose();
      await remove(session);
      const { connectionId } = client;
      expect(await sessions.beginWill(session, connectionId, messageId(1), NOW_MS)).toEqual({
        state: 'none',
      });
    });

    it('leaves a session that has a connection', async () => {
      const { session } = await client.open();
      expect(await remove(session)).toBe(false);
      expect(await stored()).toBeDefined();
    });

    it('leaves a newer incarnation, connected or not', async () => {
      const { session } = await client.open();
      await client.open({ cleanStart: true });
      expect(await remove(session)).toBe(false);
      await client.lose();
      expect(await remove(session)).toBe(false);
      expect(await stored()).toBeDefined();
    });

    it('leaves a session that has had another connection since', async () => {
      await client.open();
      const { connectionId: first } = client;
      await client.lose();
      await client.open();
      const session = await client.lose();
      expect(await remove(session, first)).toBe(false);
      expect(await stored()).toBeDefined();
      expect(await remove(session, client.connectionId)).toBe(true);
    });

    it('is followed by another incarnation', async () => {
      const { session } = await client.open();
      await remove(await client.lose());
      const second = await client.open();
      expect(second.previous).toBeUndefined();
      expect(second.session.incarnation).not.toBe(session.incarnation);
    });
  });
}

import { beforeEach, describe, expect, it } from 'vitest';
import type { BindingRank, SessionStore } from '../src/index.ts';
import { attachmentOf, Client, type MakeStores, NOW_MS, openOf, WILL } from './support.ts';

/** Openings of a session that stands there, by its owner and by others. */
export function sessionOwnerContract(makeStores: MakeStores): void {
  let client: Client;
  let sessions: SessionStore;

  beforeEach(async () => {
    client = new Client(await makeStores());
    sessions = client.stores.sessions;
  });

  const stored = async () => await sessions.get(client.tenant, client.clientId);
  const openAs = async (
    name: string,
    fields: { cleanStart?: boolean; bindingRank?: BindingRank; nowMs?: number } = {},
  ) => {
    const { tenant, clientId } = client;
    const attachment = attachmentOf(`${clientId}:of-${name}`);
    return await sessions.open(
      openOf(clientId, { tenant, attachment, identity: { tenant, name }, ...fields }),
    );
  };

  describe('the owner', () => {
    it.each([false, true])(
      'a waiting session is not given to another name, with Clean Start %s [SEC-OWNER-1]',
      async (cleanStart) => {
        const { session } = await client.open({ will: WILL });
        await client.lose();
        const before = await stored();
        expect(await openAs('mallory', { cleanStart })).toBe('owned-by-another');
        expect(await stored()).toEqual(before);
        expect((await client.resume()).incarnation).toBe(session.incarnation);
      },
    );

    it.each([false, true])(
      'a connected session is not taken over by another name, with Clean Start %s [SEC-OWNER-2]',
      async (cleanStart) => {
        await client.open({ expirySeconds: 0 });
        expect(await openAs('mallory', { cleanStart })).toBe('owned-by-another');
        expect((await stored())?.attachment?.connectionId).toBe(client.connectionId);
        await client.open();
        expect(await openAs('mallory', { cleanStart })).toBe('owned-by-another');
      },
    );

    it('an anonymous client is another owner than a named one', async () => {
      await client.open();
      expect(await openAs('')).toBe('owned-by-another');
    });

    it('a session that ended with its connection has no owner', async () => {
      await client.open({ expirySeconds: 0, will: WILL });
      await client.lose(NOW_MS, 0);
      expect(await openAs('mallory')).toMatchObject({ present: false });
      expect((await stored())?.identity.name).toBe('mallory');
    });

    it('a session that has expired has no owner', async () => {
      await client.open();
      await client.lose(NOW_MS);
      expect(await openAs('mallory', { nowMs: NOW_MS + 59_999 })).toBe('owned-by-another');
      expect(await openAs('mallory', { nowMs: NOW_MS + 60_000 })).toMatchObject({ present: false });
    });

    it('a session that has been removed has no owner', async () => {
      const { session } = await client.open();
      await client.lose();
      await sessions.remove(session);
      expect(await openAs('mallory')).toMatchObject({ present: false });
    });

    it.each([false, true])(
      'yields to a firmer bond, and ends, with Clean Start %s [SEC-OWNER-4]',
      async (cleanStart) => {
        const first = await client.open({ bindingRank: 0 });
        const connectionId = client.connectionId;
        const opened = await openAs('ada', { cleanStart, bindingRank: 1 });
        expect(opened).toMatchObject({ present: false, previous: { attachment: { connectionId } } });
        const record = await stored();
        expect(record).toMatchObject({ identity: { name: 'ada' }, bindingRank: 1 });
        expect(record?.session.incarnation).not.toBe(first.session.incarnation);
      },
    );

    it('yields to a firmer bond while it waits, too', async () => {
      await client.open({ bindingRank: 1 });
      await client.lose();
      expect(await openAs('ada', { bindingRank: 2 })).toMatchObject({ present: false });
      expect(await openAs('mallory', { bindingRank: 2 })).toBe('owned-by-another');
    });

    it('of two names that come at once one gets it, and the other is refused', async () => {
      const answers = await Promise.all([openAs('ada'), openAs('bob')]);
      expect(answers.filter((answer) => answer === 'owned-by-another')).toHaveLength(1);
    });

    it('its will has the identity that brought it, also when another name has the client identifier', async () => {
      await client.open({ will: WILL, bindingRank: 0, isWillOwed: () => true });
      const connectionId = client.connectionId;
      const { tenant, clientId } = client;
      const attachment = attachmentOf(`${clientId}:ada`);
      const identity = { tenant, name: 'ada' };
      const opened = await sessions.open(
        openOf(clientId, { tenant, attachment, identity, bindingRank: 1, isWillOwed: () => true }),
      );
      expect(opened).toMatchObject({ owedWillOf: connectionId });
      const session = await client.session();
      for (const messageId of ['m1', 'm2']) {
        const claim = await sessions.beginWill(session, connectionId, messageId, NOW_MS);
        expect(claim).toMatchObject({ state: 'begun', identity: { tenant, name: 'somebody' } });
      }
    });
  });

  describe('renew', () => {
    const renewal = () => ({
      attachment: attachmentOf(client.connectionId, { expiresAtMs: NOW_MS + 5 }),
      identity: { tenant: client.tenant, name: 'somebody', expiresAtMs: NOW_MS + 5 },
    });

    it('replaces identity and attachment of the connection that is there', async () => {
      const { session } = await client.open();
      const { attachment, identity } = renewal();
      expect((await sessions.renew(session, attachment, identity))?.attachment).toEqual(attachment);
      expect(await stored()).toMatchObject({ attachment, identity });
    });

    it('changes nothing once the connection is not the owner any more', async () => {
      const { session } = await client.open();
      const { attachment, identity } = renewal();
      await client.open();
      const before = await stored();
      expect(await sessions.renew(session, attachment, identity)).toBeUndefined();
      await client.lose();
      expect(await sessions.renew(session, attachmentOf(client.connectionId), identity)).toBeUndefined();
      expect((await stored())?.identity).toEqual(before?.identity);
    });

    it('moves the session and its will to another connection, as often as it is called', async () => {
      const { session } = await client.open({ will: WILL });
      const from = client.connectionId;
      const { identity } = renewal();
      const attachment = attachmentOf(`${from}:next`);
      const move = { from, nowMs: NOW_MS + 7 };
      for (let count = 0; count < 2; count += 1)
        expect((await sessions.renew(session, attachment, identity, move))?.attachment).toEqual(attachment);
      const { connectionId } = attachment;
      expect(await stored()).toMatchObject({
        attachment,
        identity,
        lastConnectionId: connectionId,
        attachedAtMs: NOW_MS + 7,
      });
      const gone = { session, expirySeconds: 0, nowMs: NOW_MS, will: undefined };
      expect(await sessions.detach({ ...gone, connectionId: from })).toBeUndefined();
      expect(await sessions.beginWill(session, from, 'm', NOW_MS)).toEqual({ state: 'none' });
      const will = { atMs: NOW_MS, isWithdrawnByReturn: false };
      expect(await sessions.detach({ ...gone, connectionId, will })).toBeDefined();
      expect(await sessions.beginWill(session, connectionId, 'm', NOW_MS)).toMatchObject({ state: 'begun' });
    });

    it('moves nothing of a session that another connection has taken over', async () => {
      const { session } = await client.open();
      const from = client.connectionId;
      await client.open();
      const { identity } = renewal();
      const attachment = attachmentOf(`${from}:next`);
      const move = { from, nowMs: NOW_MS };
      expect(await sessions.renew(session, attachment, identity, move)).toBeUndefined();
      expect((await stored())?.attachment?.connectionId).toBe(client.connectionId);
    });

    it('the will of a renewed connection tells the new identity', async () => {
      const { session } = await client.open({ will: WILL });
      const { attachment, identity } = renewal();
      await sessions.renew(session, attachment, identity);
      const { connectionId } = client;
      await client.lose();
      expect(await sessions.beginWill(session, connectionId, 'm', NOW_MS)).toMatchObject({ identity });
    });
  });
}

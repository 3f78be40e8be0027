import { beforeEach, describe, expect, it } from 'vitest';
import type { OpenSession, SessionStore } from '../src/index.ts';
import { attachmentOf, Client, type MakeStores, messageId, NOW_MS, openOf, WILL } from './support.ts';

const UNTIL_MS = NOW_MS + 60_000;

/** How a client that has lost its connection goes on with its session, without a CONNECT. */
export function sessionResumeContract(makeStores: MakeStores): void {
  let client: Client;
  let sessions: SessionStore;
  let incarnation: string;
  let lost: string;

  beforeEach(async () => {
    client = new Client(await makeStores());
    sessions = client.stores.sessions;
  });

  /** A session that ends with its connection, which is lost. */
  async function lose(fields: Partial<OpenSession> = {}, isDetached = true): Promise<void> {
    const { session } = await client.open({ expirySeconds: 0, cleanStart: true, ...fields });
    incarnation = session.incarnation;
    lost = client.connectionId;
    if (isDetached) await client.detach({ expirySeconds: 0, resumableUntilMs: UNTIL_MS });
  }

  function resume(fields: Partial<OpenSession> = {}) {
    const { tenant, clientId } = client;
    const attachment = attachmentOf(`${clientId}:new`);
    const request = { tenant, attachment, cleanStart: false, expirySeconds: 0, nowMs: NOW_MS + 10 };
    return sessions.open(openOf(clientId, { ...request, resumes: { incarnation, from: lost }, ...fields }));
  }

  const stored = async () => await sessions.get(client.tenant, client.clientId);

  describe('open without a CONNECT', () => {
    it('goes on with a session that would have ended', async () => {
      await lose();
      expect(await stored()).toMatchObject({ resumableUntilMs: UNTIL_MS });
      expect(await resume()).toMatchObject({ present: true, session: { incarnation } });
      const record = await stored();
      expect(record).toMatchObject({ attachment: { connectionId: `${client.clientId}:new` } });
      expect(record?.resumableUntilMs).toBeUndefined();
    });

    it('goes on with one that outlives its connection', async () => {
      const { session } = await client.open({ expirySeconds: 60 });
      incarnation = session.incarnation;
      lost = client.connectionId;
      await client.detach({ expirySeconds: 60 });
      expect(await resume({ expirySeconds: 60 })).toMatchObject({ present: true, session: { incarnation } });
    });

    it('refuses when its time is over', async () => {
      await lose();
      expect(await resume({ nowMs: UNTIL_MS })).toBe('owned-by-another');
      expect(await resume({ nowMs: UNTIL_MS - 1 })).toMatchObject({ present: true });
    });

    it.each<[string, () => Partial<OpenSession>]>([
      ['another incarnation', () => ({ resumes: { incarnation: 'other', from: lost } })],
      ['another connection', () => ({ resumes: { incarnation, from: 'other' } })],
      ['another owner', () => ({ identity: { tenant: client.tenant, name: 'mallory' } })],
    ])('refuses %s, and changes nothing', async (_what, fields) => {
      await lose();
      expect(await resume(fields())).toBe('owned-by-another');
      expect(await stored()).toMatchObject({ lastConnectionId: lost, resumableUntilMs: UNTIL_MS });
    });

    it('refuses while the connection is there, and where there is no session', async () => {
      await lose({}, false);
      expect(await resume()).toBe('owned-by-another');
      expect(await stored()).toMatchObject({ attachment: { connectionId: lost } });
      client = new Client(client.stores);
      expect(await resume()).toBe('owned-by-another');
    });

    it('is refused a second time, from another connection', async () => {
      await lose();
      await resume();
      const attachment = attachmentOf(`${client.clientId}:third`);
      expect(await resume({ attachment })).toBe('owned-by-another');
    });

    it('is not for a CONNECT: that finds no session', async () => {
      await lose();
      expect(await client.open({ expirySeconds: 0, cleanStart: false })).toMatchObject({ present: false });
      expect(await resume()).toBe('owned-by-another');
    });

    it('withdraws the will, and keeps it for the new connection', async () => {
      await lose({ will: WILL });
      const will = (await stored())?.will;
      expect(await resume({ will, isWillOwed: () => false })).toMatchObject({ owedWillOf: undefined });
      expect(await stored()).toMatchObject({ will: { topic: WILL.topic }, willDue: undefined });
    });

    it('leaves a will that has been begun to be published', async () => {
      await lose({ will: WILL });
      const { session } = (await stored()) ?? {};
      if (session === undefined) throw new Error('the session is not there');
      await sessions.beginWill(session, lost, messageId(1), NOW_MS);
      expect(await resume({ isWillOwed: () => false })).toMatchObject({ owedWillOf: lost });
    });
  });
}

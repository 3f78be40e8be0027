import { beforeEach, describe, expect, it } from 'vitest';
import { NEVER_EXPIRES, type SessionStore, sessionKey } from '../src/index.ts';
import { attachmentOf, Client, copyOf, type MakeStores, NOW_MS, WILL } from './support.ts';

/** How a session begins, continues, and is taken over. */
export function sessionOpenContract(makeStores: MakeStores): void {
  let client: Client;
  let sessions: SessionStore;

  beforeEach(async () => {
    client = new Client(await makeStores());
    sessions = client.stores.sessions;
  });

  const stored = async () => await sessions.get(client.tenant, client.clientId);

  describe('open', () => {
    it('begins a session where none is [MQTT-3.1.2-6]', async () => {
      const { session, present, previous } = await client.open();
      expect({ present, previous }).toEqual({ present: false, previous: undefined });
      expect(copyOf(session)).toEqual({
        key: sessionKey(client.tenant, client.clientId),
        tenant: client.tenant,
        clientId: client.clientId,
        incarnation: expect.any(String),
        attachment: attachmentOf(client.connectionId),
      });
    });

    it('stores the fields of the request [MQTT-3.1.2-7]', async () => {
      const { session } = await client.open({ expirySeconds: 7, will: WILL });
      const record = await stored();
      expect(record).toMatchObject({
        attachment: attachmentOf(client.connectionId),
        lastConnectionId: client.connectionId,
        attachedAtMs: NOW_MS,
        expirySeconds: 7,
        identity: { tenant: client.tenant, name: 'somebody' },
        will: { topic: 'gone', qos: 1 },
      });
      expect(record?.detachedAtMs).toBeUndefined();
      expect(record?.willDue).toBeUndefined();
      expect(record?.session.incarnation).toBe(session.incarnation);
    });

    it('continues the session of a client that is back in time [MQTT-3.1.2-5] [MQTT-3.1.2-23]', async () => {
      const first = await client.open();
      await client.lose(NOW_MS);
      const second = await client.open({ nowMs: NOW_MS + 59_999 });
      expect(second.present).toBe(true);
      expect(second.session.incarnation).toBe(first.session.incarnation);
      expect(second.session.attachment?.connectionId).toBe(client.connectionId);
      expect(second.previous).toMatchObject({
        expirySeconds: 60,
        attachedAtMs: NOW_MS,
        detachedAtMs: NOW_MS,
      });
      expect(second.previous?.attachment).toBeUndefined();
      expect(await stored()).toMatchObject({ attachedAtMs: NOW_MS + 59_999, detachedAtMs: undefined });
    });

    it('takes expiry, identity and will of the new connection', async () => {
      await client.open({ will: WILL });
      await client.lose();
      const identity = { tenant: client.tenant, name: 'somebody', expiresAtMs: NOW_MS + 1 };
      await client.open({ expirySeconds: 5, identity });
      const record = await stored();
      expect(record).toMatchObject({ expirySeconds: 5, identity });
      expect(record?.will).toBeUndefined();
    });

    it('begins anew after the session has expired, and returns the expired one [MQTT-4.1.0-2]', async () => {
      const first = await client.open({ will: WILL });
      await client.lose(NOW_MS);
      const second = await client.open({ nowMs: NOW_MS + 60_000 });
      expect(second.present).toBe(false);
      expect(second.session.incarnation).not.toBe(first.session.incarnation);
      expect(second.previous).toMatchObject({ detachedAtMs: NOW_MS, will: { topic: 'gone' } });
      expect(second.previous?.session.incarnation).toBe(first.session.incarnation);
    });

    it('uses the expiry that DISCONNECT left', async () => {
      await client.open({ expirySeconds: 60 });
      await client.lose(NOW_MS, 3600);
      expect((await client.open({ nowMs: NOW_MS + 3_599_999 })).present).toBe(true);
    });

    it('never expires with an expiry of 0xFFFFFFFF', async () => {
      await client.open({ expirySeconds: NEVER_EXPIRES });
      await client.lose(NOW_MS, NEVER_EXPIRES);
      const aboveAnyExpiryMs = (NEVER_EXPIRES + 1) * 1000;
      expect((await client.open({ nowMs: NOW_MS + aboveAnyExpiryMs })).present).toBe(true);
    });

    it('begins anew when the session ended with its connection [MQTT-4.1.0-2]', async () => {
      await client.open({ expirySeconds: 0 });
      await client.lose(NOW_MS, 0);
      expect((await client.open({ nowMs: NOW_MS })).present).toBe(false);
    });

    it('begins anew with Clean Start [MQTT-3.1.2-4]', async () => {
      const first = await client.open();
      await client.lose();
      const second = await client.open({ cleanStart: true });
      expect(second.present).toBe(false);
      expect(second.session.incarnation).not.toBe(first.session.incarnation);
      expect(second.previous?.session.incarnation).toBe(first.session.incarnation);
      expect((await stored())?.session.incarnation).toBe(second.session.incarnation);
    });

    it('keeps tenants and client identifiers apart', async () => {
      await client.open();
      const other = new Client(client.stores, `${client.tenant}x`, client.clientId);
      expect((await other.open()).previous).toBeUndefined();
      const another = new Client(client.stores, client.tenant, `${client.clientId}x`);
      expect((await another.open()).previous).toBeUndefined();
    });
  });

  describe('take-over', () => {
    it('finds the connection that loses the session in `previous` [MQTT-3.1.4-3]', async () => {
      const { session } = await client.open({ will: WILL });
      const lostConnection = client.connectionId;
      const { previous, present } = await client.open();
      expect(present).toBe(true);
      expect(previous?.attachment).toEqual(attachmentOf(lostConnection));
      expect(previous?.detachedAtMs).toBeUndefined();
      expect(previous?.will).toMatchObject({ topic: 'gone' });
      expect((await client.session()).incarnation).toBe(session.incarnation);
    });

    it('begins anew when the taken-over session would have ended with its connection', async () => {
      const first = await client.open({ expirySeconds: 0 });
      const lostConnection = client.connectionId;
      const second = await client.open();
      expect(second.present).toBe(false);
      expect(second.previous?.attachment?.connectionId).toBe(lostConnection);
      expect(second.session.incarnation).not.toBe(first.session.incarnation);
    });

    it('gives two CONNECTs at the same time an order', async () => {
      const [first, second] = await Promise.all([client.open(), client.open()]);
      const previous = [first.previous, second.previous];
      expect(previous.filter((each) => each === undefined)).toHaveLength(1);
      const owner = (await client.session()).attachment?.connectionId;
      const loser = previous.find((each) => each !== undefined)?.attachment?.connectionId;
      expect(new Set([owner, loser]).size).toBe(2);
    });

    it('leaves the old connection nothing to detach', async () => {
      const { session } = await client.open();
      const connectionId = client.connectionId;
      await client.open();
      expect(await client.detach({ session, connectionId, expirySeconds: 0 })).toBeUndefined();
      expect(await stored()).toMatchObject({
        expirySeconds: 60,
        attachment: attachmentOf(client.connectionId),
      });
    });

    it('leaves the old incarnation nothing to detach', async () => {
      const { session } = await client.open();
      const connectionId = client.connectionId;
      await client.open({ cleanStart: true });
      expect(await client.detach({ session, connectionId, expirySeconds: 0 })).toBeUndefined();
      expect((await stored())?.attachment?.connectionId).toBe(client.connectionId);
    });
  });
}

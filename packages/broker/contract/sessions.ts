import type { Will } from '@apus/mqtt';
import { beforeEach, describe, expect, it } from 'vitest';
import { NEVER_EXPIRES, type SessionStore, sessionKey } from '../src/index.ts';
import { attachmentOf, Client, type ContractOptions, copyOf, type MakeStores, NOW_MS } from './support.ts';

const WILL: Will = { topic: 'gone', payload: Buffer.from('bye'), qos: 1, retain: false, properties: {} };

/** What every `SessionStore` does. */
export function sessionStoreContract(
  name: string,
  makeStores: MakeStores,
  { countsAreExact = true }: ContractOptions = {},
): void {
  describe(`${name}: SessionStore`, () => {
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

      it('stores what the request says [MQTT-3.1.2-7]', async () => {
        const { session } = await client.open({ expirySeconds: 7, will: WILL });
        const record = await stored();
        expect(record).toMatchObject({
          attachment: attachmentOf(client.connectionId),
          expirySeconds: 7,
          identity: { tenant: client.tenant, name: 'somebody' },
          will: { topic: 'gone', qos: 1 },
        });
        expect(record?.detachedAtMs).toBeUndefined();
        expect(record?.session.incarnation).toBe(session.incarnation);
      });

      it('continues the session of a client that is back in time [MQTT-3.1.2-5] [MQTT-3.1.2-23]', async () => {
        const first = await client.open();
        await client.lose(NOW_MS);
        const second = await client.open({ nowMs: NOW_MS + 59_999 });
        expect(second.present).toBe(true);
        expect(second.session.incarnation).toBe(first.session.incarnation);
        expect(second.session.attachment?.connectionId).toBe(client.connectionId);
        expect(second.previous).toMatchObject({ expirySeconds: 60, detachedAtMs: NOW_MS });
        expect(second.previous?.attachment).toBeUndefined();
        expect((await stored())?.detachedAtMs).toBeUndefined();
      });

      it('takes expiry, identity and will of the new connection', async () => {
        await client.open({ will: WILL });
        await client.lose();
        const identity = { tenant: client.tenant, name: 'somebody else', claims: { level: 3 } };
        await client.open({ expirySeconds: 5, identity });
        const record = await stored();
        expect(record).toMatchObject({ expirySeconds: 5, identity });
        expect(record?.will).toBeUndefined();
      });

      it('begins anew once the session has expired, and hands over what stood there [MQTT-4.1.0-2]', async () => {
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
        const lostConnection = client.connectionId;
        await client.open();
        expect(await sessions.detach(session, lostConnection, 0, NOW_MS)).toBeUndefined();
        expect(await stored()).toMatchObject({
          expirySeconds: 60,
          attachment: attachmentOf(client.connectionId),
        });
      });

      it('leaves the old incarnation nothing to detach', async () => {
        const { session } = await client.open();
        const lostConnection = client.connectionId;
        await client.open({ cleanStart: true });
        expect(await sessions.detach(session, lostConnection, 0, NOW_MS)).toBeUndefined();
        expect((await stored())?.attachment?.connectionId).toBe(client.connectionId);
      });
    });

    describe('get', () => {
      it('knows nothing of a client that never came', async () => {
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
      it('answers the record as it then stands, and stores it', async () => {
        const { session } = await client.open({ will: WILL });
        const detached = await sessions.detach(session, client.connectionId, 30, NOW_MS + 5);
        for (const record of [detached, await stored()]) {
          expect(record).toMatchObject({
            expirySeconds: 30,
            detachedAtMs: NOW_MS + 5,
            will: { topic: 'gone' },
            identity: { name: 'somebody' },
          });
          expect(record?.attachment).toBeUndefined();
          expect(record?.session.incarnation).toBe(session.incarnation);
        }
      });

      it('answers once', async () => {
        const { session } = await client.open();
        expect(await sessions.detach(session, client.connectionId, 60, NOW_MS)).toBeDefined();
        expect(await sessions.detach(session, client.connectionId, 0, NOW_MS + 1)).toBeUndefined();
        expect(await stored()).toMatchObject({ expirySeconds: 60, detachedAtMs: NOW_MS });
      });

      it('takes a copy of the ref', async () => {
        const { session } = await client.open();
        expect(await sessions.detach(copyOf(session), client.connectionId, 60, NOW_MS)).toBeDefined();
      });
    });

    describe('takeWill', () => {
      it('gives the will to exactly one caller [MQTT-3.1.2-10]', async () => {
        const { session } = await client.open({ will: WILL });
        const taken = await Promise.all([1, 2, 3].map(() => sessions.takeWill(session, client.connectionId)));
        expect(taken.filter((will) => will !== undefined)).toEqual([
          expect.objectContaining({ topic: 'gone', qos: 1 }),
        ]);
        expect((await stored())?.will).toBeUndefined();
      });

      it('gives the whole will', async () => {
        const will: Will = {
          ...WILL,
          retain: true,
          properties: { willDelayInterval: 3, contentType: 'text' },
        };
        const { session } = await client.open({ will });
        const taken = await sessions.takeWill(copyOf(session), client.connectionId);
        expect({ ...taken, payload: Buffer.from(taken?.payload ?? []).toString() }).toEqual({
          ...will,
          payload: 'bye',
        });
      });

      it('finds the will of a connection that has ended, while its delay runs [MQTT-3.1.2-8]', async () => {
        await client.open({ will: WILL });
        const session = await client.lose();
        expect(await sessions.takeWill(session, client.connectionId)).toMatchObject({ topic: 'gone' });
      });

      it('finds nothing where the connection brought none', async () => {
        const { session } = await client.open();
        expect(await sessions.takeWill(session, client.connectionId)).toBeUndefined();
      });

      it('does not give the will of one connection to the end of another', async () => {
        const { session } = await client.open();
        const lostConnection = client.connectionId;
        await client.open({ will: WILL });
        expect(await sessions.takeWill(session, lostConnection)).toBeUndefined();
        expect(await sessions.takeWill(session, client.connectionId)).toMatchObject({ topic: 'gone' });
      });

      it.each([false, true])('finds none that `open` handed over (Clean Start %s)', async (cleanStart) => {
        const { session } = await client.open({ will: WILL });
        const lostConnection = client.connectionId;
        const { previous } = await client.open({ cleanStart });
        expect(previous?.will).toMatchObject({ topic: 'gone' });
        expect(await sessions.takeWill(session, lostConnection)).toBeUndefined();
      });

      it('leaves none to hand over', async () => {
        const { session } = await client.open({ will: WILL });
        await sessions.takeWill(session, client.connectionId);
        expect((await client.open()).previous?.will).toBeUndefined();
      });
    });

    describe('remove', () => {
      it('forgets a session that is offline, once', async () => {
        await client.open();
        const session = await client.lose();
        expect(await sessions.remove(session)).toBe(true);
        expect(await stored()).toBeUndefined();
        expect(await sessions.remove(session)).toBe(false);
      });

      it('takes a copy of the ref', async () => {
        await client.open();
        expect(await sessions.remove(copyOf(await client.lose()))).toBe(true);
        expect(await stored()).toBeUndefined();
      });

      it('forgets the will with it', async () => {
        await client.open({ will: WILL });
        const session = await client.lose();
        await sessions.remove(session);
        expect(await sessions.takeWill(session, client.connectionId)).toBeUndefined();
      });

      it('leaves a session that has a connection', async () => {
        const { session } = await client.open();
        expect(await sessions.remove(session)).toBe(false);
        expect(await stored()).toBeDefined();
      });

      it('leaves a newer incarnation, connected or not', async () => {
        const { session } = await client.open();
        await client.open({ cleanStart: true });
        expect(await sessions.remove(session)).toBe(false);
        await client.lose();
        expect(await sessions.remove(session)).toBe(false);
        expect(await stored()).toBeDefined();
      });

      it('is followed by another incarnation', async () => {
        const { session } = await client.open();
        await sessions.remove(await client.lose());
        const second = await client.open();
        expect(second.previous).toBeUndefined();
        expect(second.session.incarnation).not.toBe(session.incarnation);
      });
    });

    // A store that samples its numbers answers this one when it gets around to it.
    it.skipIf(!countsAreExact)('counts sessions, connected or not', async () => {
      const before = await sessions.count();
      await client.open();
      await new Client(client.stores).open();
      expect((await sessions.count()) - before).toBe(2);
      const offline = await client.lose();
      expect((await sessions.count()) - before).toBe(2);
      await client.open({ cleanStart: true });
      expect((await sessions.count()) - before).toBe(2);
      await sessions.remove(offline);
      expect((await sessions.count()) - before).toBe(2);
      await sessions.remove(await client.lose());
      expect((await sessions.count()) - before).toBe(1);
    });
  });
}

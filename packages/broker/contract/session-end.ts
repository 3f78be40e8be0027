import type { Will } from '@apus/mqtt';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SessionStore } from '../src/index.ts';
import { Client, copyOf, type MakeStores, NOW_MS, WILL } from './support.ts';

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

    it('leaves a session that has had another connection since', async () => {
      await client.open();
      const { connectionId: first } = client;
      await client.lose();
      await client.open();
      const session = await client.lose();
      expect(await sessions.remove(session, first)).toBe(false);
      expect(await stored()).toBeDefined();
      expect(await sessions.remove(session, client.connectionId)).toBe(true);
    });

    it('is followed by another incarnation', async () => {
      const { session } = await client.open();
      await sessions.remove(await client.lose());
      const second = await client.open();
      expect(second.previous).toBeUndefined();
      expect(second.session.incarnation).not.toBe(session.incarnation);
    });
  });
}

import type { LinkState } from '@apus/broker';
import { openedOf } from '@apus/broker/samples';
import type { Swept, SweptConnection, SweptSession } from '@apus/store-dynamodb';
import { describe, expect, it } from 'vitest';
import { detach, messageOf, open, subscriptionTo, unique } from '../support/client.ts';
import { FakeClock, NOW_MS, withService } from '../support/stores.ts';

const WILL = { topic: 'w', payload: Buffer.from('x'), qos: 1 as const, retain: false, properties: {} };

await withService((service) => {
  const setUp = () => {
    const fakeClock = new FakeClock();
    const stores = service.make({ fakeClock });
    /** Of one tenant: the table is shared by all tests. */
    const scanAll = async (tenant: string, segments = 3): Promise<Swept[]> => {
      const found: Swept[] = [];
      for (let segment = 0; segment < segments; segment += 1) {
        let page = await stores.sweepScan.page(segment, segments, undefined);
        found.push(...page.found);
        while (page.next !== undefined) {
          page = await stores.sweepScan.page(segment, segments, page.next);
          found.push(...page.found);
        }
      }
      return found.filter((swept) => tenantOf(swept) === tenant);
    };
    return { fakeClock, stores, tenant: unique('tenant'), scanAll };
  };

  const tenantOf = (swept: Swept) => {
    if (swept.kind === 'connection') return swept.session?.tenant;
    return swept.kind === 'holdings' ? swept.account.tenant : swept.tenant;
  };

  const stateOf = (tenant: string, clientId: string, connectedAtMs: number): LinkState => ({
    phase: 'connected',
    isDraining: false,
    replays: [],
    connection: {
      session: { key: `${tenant}\0${clientId}`, tenant, clientId, incarnation: '1', attachment: undefined },
      protocolVersion: 5,
      identity: { tenant, name: '' },
      keepAliveSeconds: 60,
      expirySeconds: 0,
      requestProblemInformation: true,
      maximumPacketSize: 1_000,
      topicAliasMaximum: 0,
      authenticationMethod: undefined,
      connectedAtMs,
      isResumed: false,
      willDelaySeconds: undefined,
    },
  });

  describe('the scan of the sweep', () => {
    it('of a session finds its connection, its expiry, and its pending wills', async () => {
      const { stores, tenant, scanAll } = setUp();
      const attachment = (await open(stores, tenant, 'probe')).session.attachment;
      if (attachment === undefined) throw new Error('expected a connection');
      const request = {
        tenant,
        clientId: 'c',
        cleanStart: false,
        expirySeconds: 60,
        identity: { tenant, name: 'somebody' },
        bindingRank: 0 as const,
        will: WILL,
        nowMs: NOW_MS,
        isWillOwed: () => true,
      };
      await stores.sessions.open({ ...request, attachment: { ...attachment, connectionId: 'c:1' } });
      const { session } = openedOf(
        await stores.sessions.open({
          ...request,
          attachment: { ...attachment, connectionId: 'c:2' },
        }),
      );
      const find = async () => {
        const found = await scanAll(tenant);
        return found.find(
          (swept): swept is SweptSession => swept.kind === 'session' && swept.clientId === 'c',
        );
      };
      expect(await find()).toEqual({
        kind: 'session',
        tenant,
        clientId: 'c',
        incarnation: session.incarnation,
        connectionId: 'c:2',
        lastConnectionId: 'c:2',
        attachedAtMs: NOW_MS,
        endsAtMs: undefined,
        willDueAtMs: undefined,
        owedWillsOf: ['c:1'],
        incarnationsWithRooms: [],
      });
      await stores.sessions.detach({
        session,
        connectionId: 'c:2',
        expirySeconds: 60,
        nowMs: NOW_MS + 1_000,
        will: { atMs: NOW_MS + 6_000, isWithdrawnByReturn: false },
      });
      expect(await find()).toMatchObject({
        connectionId: undefined,
        lastConnectionId: 'c:2',
        endsAtMs: NOW_MS + 61_000,
        willDueAtMs: NOW_MS + 6_000,
      });
    });

    it('finds a session whose name is too long for a key', async () => {
      const { stores, tenant, scanAll } = setUp();
      const clientId = 'ä€😀'.repeat(400);
      const { session } = await open(stores, tenant, clientId);
      await detach(stores, session, `${clientId}:1`);
      expect(await scanAll(tenant)).toMatchObject([{ kind: 'session', tenant, clientId }]);
    });

    it('of a connection finds its session, its start and its end', async () => {
      const { fakeClock, stores, tenant, scanAll } = setUp();
      const connectionId = unique('connection');
      await stores.links.save(connectionId, stateOf(tenant, 'c', NOW_MS - 5));
      const expected: SweptConnection = {
        kind: 'connection',
        connectionId,
        beganAtMs: NOW_MS - 5,
        session: { tenant, clientId: 'c' },
        endedAtMs: undefined,
      };
      expect(await scanAll(tenant)).toEqual([expected]);
      expect(await stores.sweepScan.connections([connectionId, 'nobody'])).toEqual(['there', 'missing']);
      fakeClock.nowMs += 1_000;
      await stores.links.end(connectionId);
      expect(await scanAll(tenant)).toEqual([{ ...expected, endedAtMs: NOW_MS + 1_000 }]);
      expect(await stores.sweepScan.connections([connectionId])).toEqual([{ endedAtMs: NOW_MS + 1_000 }]);
    });

    it('finds the subscriptions of a session that outlives its connection', async () => {
      const { stores, tenant, scanAll } = setUp();
      const { session } = await open(stores, tenant, 'c');
      await stores.subscriptions.put(session, [subscriptionTo('a')], 10);
      const { incarnation } = session;
      const { found } = await stores.sweepScan.messagesPage(0, 1, undefined);
      expect(found).toContainEqual({ kind: 'list', tenant, clientId: 'c', incarnation });
      expect((await scanAll(tenant)).map(({ kind }) => kind)).toEqual(['session']);
    });

    it('costs nothing for messages: they are in another table', async () => {
      const { stores, tenant, scanAll } = setUp();
      await open(stores, tenant, 'c');
      const unitsOfPass = async () => {
        const before = stores.meter.units;
        await scanAll(tenant);
        return stores.meter.since(before).reads;
      };
      const without = await unitsOfPass();
      for (let index = 0; index < 20; index += 1) {
        const message = { ...messageOf(index), topic: `topic/${index}`, payload: Buffer.alloc(100_000) };
        await stores.retained.put(tenant, message, { messagesMax: 100, bytesMax: 10_000_000 });
      }
      expect(await unitsOfPass()).toBe(without);
    });

    it('excludes expired items, and all but sessions and connections', async () => {
      const { fakeClock, stores, tenant, scanAll } = setUp();
      const { session } = await open(stores, tenant, 'c');
      await stores.received.begin(session, 1, 'id', 5);
      await stores.links.save(unique('connection'), stateOf(tenant, 'c', NOW_MS));
      expect((await scanAll(tenant)).map(({ kind }) => kind).sort()).toEqual(['connection', 'session']);
      fakeClock.nowMs += 4 * 60 * 60 * 1_000;
      expect((await scanAll(tenant)).map(({ kind }) => kind)).toEqual(['session']);
    });
  });

  describe('the notes of the sweep', () => {
    it('come back unchanged', async () => {
      const { stores } = setUp();
      const progress = { pass: 3, segments: ['done', { p: 'S\0t\0c', s: 'session' }], connections: 7 };
      await stores.sweepScan.note(progress);
      expect(await stores.sweepScan.recall()).toEqual(progress);
    });
  });

  describe('a second look at sessions', () => {
    it('finds the present incarnation and connection', async () => {
      const { stores, tenant } = setUp();
      const { session } = await open(stores, tenant, 'c');
      const names = [
        { tenant, clientId: 'c' },
        { tenant, clientId: 'nobody' },
      ];
      expect(await stores.sweepScan.sessions(names)).toEqual([
        { incarnation: session.incarnation, connectionId: 'c:1' },
        undefined,
      ]);
    });
  });
});

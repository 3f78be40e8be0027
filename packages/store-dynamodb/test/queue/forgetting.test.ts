import type { QueueLimits } from '@apus/broker';
import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { INLINE_SUBSCRIBERS_MAX } from '../../src/limits.ts';
import {
  deliveryTo,
  detach,
  messageOf,
  offerAsDoor,
  open,
  PAGE,
  ROOMY,
  subscriptionTo,
  unique,
} from '../support/client.ts';
import { FakeClock, NOW_MS, withService } from '../support/stores.ts';

await withService((service) => {
  describe('a queued message', () => {
    it('of 2 MiB waits in pieces, once for all of its recipients', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      const sessions = [];
      for (const clientId of ['a', 'b']) sessions.push((await open(stores, tenant, clientId)).session);
      const payload = Buffer.alloc(2 * 1024 * 1024, 'abcdefg');
      const before = stores.meter.units;
      const deliveries = sessions.map((session) => deliveryTo(session));
      await stores.queues.offer(messageOf(1, { payload }), deliveries, ROOMY);
      const { writes } = stores.meter.since(before);
      expect(writes).toBeGreaterThan(2_048);
      expect(writes).toBeLessThan(2_100);
      const { session } = await open(stores, tenant, 'b', { connectionId: 'again' });
      const [queued] = await stores.queues.next(session, PAGE, NOW_MS);
      expect(queued?.type === 'publish' && Buffer.compare(queued.message.payload, payload)).toBe(0);
    });

    it('is dropped when it has waited longer than any session lives, with TTL or without', async () => {
      const fakeClock = new FakeClock();
      const stores = service.make({ fakeClock, queueSecondsMax: 100 });
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'c');
      const { session: away = session } = (await detach(stores, session, 'c:1')) ?? {};
      await stores.queues.offer(messageOf(1), [deliveryTo(away)], ROOMY);
      expect(await stores.queues.length(session)).toBe(1);
      fakeClock.nowMs += 100_000;
      expect(await stores.queues.length(session)).toBe(0);
    });

    it('in a full queue evicts another one, and the length stays at its maximum', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'c');
      await detach(stores, session, 'c:1');
      const limits: QueueLimits = { ...ROOMY, queueLengthMax: 5 };
      for (let number = 1; number <= 12; number += 1) {
        const offline = (await stores.sessions.get(tenant, 'c'))?.session ?? session;
        await stores.queues.offer(messageOf(number), [deliveryTo(offline)], limits);
      }
      expect(await stores.queues.length(session)).toBe(5);
    });

    it('that comes late, with an older id, is dequeued in its place and counted', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'c');
      await detach(stores, session, 'c:1');
      for (const number of [5, 6, 2]) {
        await stores.queues.offer(messageOf(number), [deliveryTo({ ...session })], ROOMY);
      }
      expect(await stores.queues.length(session)).toBe(3);
      const back = await open(stores, tenant, 'c', { connectionId: 'c:2' });
      const page = await stores.queues.next(back.session, PAGE, NOW_MS);
      expect(page.map((each) => each.type === 'publish' && each.message.id)).toEqual(
        [2, 5, 6].map((number) => messageOf(number).id),
      );
    });

    it('that is offered again under its id is not doubled, waiting or in flight', async () => {
      const ended: string[] = [];
      const stores = service.make();
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'c');
      const offer = async () => {
        const delivery = deliveryTo({ ...session }, { copy: 'a/#' });
        await offerAsDoor(stores, messageOf(1), [delivery], (connectionId) => ended.push(connectionId));
        return delivery.packetId;
      };
      const packetId = await offer();
      expect(packetId).toBeGreaterThan(0);
      // The first offer may have been sent: a second PUBLISH could exceed the Receive Maximum.
      expect(await offer()).toBe(0);
      expect(ended).toEqual(['c:1']);
      expect(await stores.queues.unacknowledged(session)).toHaveLength(1);
      const { session: back } = await open(stores, tenant, 'c', { connectionId: 'c:2' });
      const page = await stores.queues.next(back, PAGE, NOW_MS);
      expect(page).toMatchObject([{ message: { id: messageOf(1).id }, delivery: { packetId, dup: true } }]);
      expect(await stores.queues.complete(back, packetId, 'puback')).toBe('done');
      await detach(stores, back, 'c:2');
      expect(await offer()).toBe(0);
      expect(await offer()).toBe(0);
      expect(await stores.queues.unacknowledged(session)).toHaveLength(1);
      await stores.queues.clear(session);
    });

    it('that is offered in copies, of filters served apart or retained, has a packet id for each [MQTT-2.2.1-3]', async () => {
      const stores = service.make();
      const { session } = await open(stores, unique('tenant'), 'c');
      const packetIds: number[] = [];
      for (const copy of ['', 'a/#', 'a/+', undefined, undefined]) {
        const delivery = deliveryTo({ ...session }, copy === undefined ? {} : { copy });
        await stores.queues.offer(messageOf(1), [delivery], ROOMY);
        packetIds.push(delivery.packetId);
      }
      expect(new Set(packetIds).size).toBe(packetIds.length);
      expect(packetIds).not.toContain(0);
      expect(await stores.queues.unacknowledged(session)).toHaveLength(packetIds.length);
    });
  });

  it.each([false, true])(
    'a QoS 2 message that is complete is not sent again when its fan-out is repeated (while offline: %s)',
    async (isOffline) => {
      const stores = service.make();
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'c', { attachment: { receiveMaximum: 1 } });
      const offer = async (number: number) => {
        const delivery = deliveryTo({ ...session }, { qos: 2, copy: '' });
        await stores.queues.offer(messageOf(number, { qos: 2 }), [delivery], ROOMY);
        return delivery.packetId;
      };
      const packetId = await offer(1);
      expect(await stores.queues.release(session, packetId)).toBe('done');
      expect(await stores.queues.complete(session, packetId, 'pubcomp')).toBe('done');
      expect(await stores.queues.complete(session, packetId, 'pubcomp')).toBe('unknown');
      if (isOffline) await detach(stores, session, 'c:1');
      expect(await offer(1)).toBe(0);
      const back = await open(stores, tenant, 'c', {
        connectionId: 'c:2',
        attachment: { receiveMaximum: 1 },
      });
      expect(await stores.queues.next(back.session, PAGE, NOW_MS)).toEqual([]);
      // Its place is free all the same.
      expect(await offer(11)).toBeGreaterThan(0);
    },
  );

  it('a PUBREL that is sent again takes no place in the window, in whichever page [MQTT-3.3.4-10]', async () => {
    const stores = service.make();
    const tenant = unique('tenant');
    const { session } = await open(stores, tenant, 'c');
    const offer = async (number: number) => {
      const delivery = deliveryTo({ ...session }, { qos: 2 });
      await stores.queues.offer(messageOf(number, { qos: 2 }), [delivery], ROOMY);
      return delivery.packetId;
    };
    const released = [await offer(1), await offer(2)];
    for (const packetId of released) await stores.queues.release(session, packetId);
    const back = await open(stores, tenant, 'c', { connectionId: 'c:2', attachment: { receiveMaximum: 1 } });
    const one = { messages: 1, bytes: 1000 };
    const first = await stores.queues.next(back.session, one, NOW_MS);
    // A PUBREL is left, which it does not overtake.
    expect(await offer(3)).toBe(0);
    const pages = [first];
    while (pages.at(-1)?.length !== 0) pages.push(await stores.queues.next(back.session, one, NOW_MS));
    expect(pages.flat()).toMatchObject([
      { type: 'pubrel', packetId: released[0] },
      { type: 'pubrel', packetId: released[1] },
      { type: 'publish', message: { id: messageOf(3).id } },
    ]);
  });

  it('subscribers whose connections a crash has kept from leaving make room in the head', async () => {
    const fakeClock = new FakeClock();
    const stores = service.make({ fakeClock, connectionSecondsMax: 7_200 });
    const tenant = unique('tenant');
    const subscribe = async (clientId: string) => {
      const connectionId = `${clientId}:1`;
      const attachment = { keepsNothing: true };
      const { session } = await open(stores, tenant, clientId, {
        connectionId,
        attachment,
        cleanStart: true,
      });
      await stores.subscriptions.put(session, [subscriptionTo('crowd')], 10);
    };
    const others = INLINE_SUBSCRIBERS_MAX - 1;
    for (let number = 0; number < others; number += 1) await subscribe(`ghost-${number}`);
    fakeClock.nowMs += 7_000_000;
    await subscribe('live');
    // The ghosts' connections cannot be there any more; the head is full of them.
    fakeClock.nowMs += 400_000;
    const newcomers = Array.from({ length: others }, (_, number) => `newcomer-${number}`);
    for (const clientId of newcomers) await subscribe(clientId);
    const found = async () => {
      const [matched, ...more] = await service
        .make({ fakeClock, shards: 'leave' })
        .subscriptions.match(tenant, 'crowd');
      expect(more).toEqual([]);
      return {
        shards: matched?.shards,
        clients: matched?.subscribers.map(({ session }) => session.clientId),
      };
    };
    expect(await found()).toEqual({
      shards: undefined,
      clients: expect.arrayContaining(['live', ...newcomers]),
    });
    // Those who are there give no room.
    await subscribe('ninth');
    expect(await found()).toMatchObject({ shards: 1 });
  });

  it('a subscriber in a shard is removed a day after the end of the longest life of its connection', async () => {
    const fakeClock = new FakeClock();
    const stores = service.make({ fakeClock, connectionSecondsMax: 7_200, inlineSubscribersMax: 1 });
    const tenant = unique('tenant');
    const subscribe = async (clientId: string, keepsNothing: boolean) => {
      const { session } = await open(stores, tenant, clientId, { attachment: { keepsNothing } });
      await stores.subscriptions.put(session, [subscriptionTo('wide')], 10);
    };
    await subscribe('in-the-head', true);
    // The first one has waited for the lease of the shape.
    const joinedSeconds = fakeClock.nowMs / 1_000;
    await subscribe('ephemeral', true);
    await subscribe('persistent', false);
    const { Items = [] } = await service.client.send(
      new QueryCommand({
        TableName: service.tableName,
        KeyConditionExpression: 'p = :p',
        ExpressionAttributeValues: { ':p': { S: ['W', tenant, '0', 'wide'].join('\0') } },
      }),
    );
    const ttls = Items.map(({ t }) => t?.N).sort();
    expect(ttls).toEqual([String(joinedSeconds + 7_205 + 86_400), undefined]);
  });

  it('a will that no item could hold is refused by name', async () => {
    const stores = service.make();
    const opened = stores.sessions.open({
      tenant: unique('tenant'),
      clientId: 'c',
      cleanStart: true,
      expirySeconds: 0,
      attachment: {
        connectionId: '1',
        protocolVersion: 5,
        receiveMaximum: 1,
        maximumPacketSize: 1,
        keepsNothing: false,
      },
      identity: { tenant: 't', name: '' },
      bindingRank: 0,
      will: { topic: 'w', payload: Buffer.alloc(200_000), qos: 0, retain: false, properties: {} },
      nowMs: NOW_MS,
      isWillOwed: () => false,
    });
    await expect(opened).rejects.toMatchObject({ name: 'ItemTooLargeError', reasonCode: 0x95 });
  });
});

import type { SessionRef } from '@apus/broker';
import type { Packet } from '@apus/mqtt';
import { describe, expect, it } from 'vitest';
import { deliveryTo, detach, messageOf, open, ROOMY, subscriptionTo, unique } from '../support/client.ts';
import { Door, publishOf } from '../support/door.ts';
import { isAppend, isRecordWrite, once, onceAfter } from '../support/hooks.ts';
import { FakeClock, type Hooks, withService } from '../support/stores.ts';

const DISCONNECT: Packet = { type: 'disconnect', reasonCode: 0, properties: {} };
const SHARE = { topicFilter: 'work', shareGroup: 'g' };

await withService((service) => {
  describe('a member of a share group whose session ends', () => {
    /** A member that is offline and stores messages, and one that is connected. */
    const group = async (hooksOf: (end: () => Promise<unknown>) => Hooks) => {
      const fakeClock = new FakeClock();
      const tenant = unique('tenant');
      const other = new Door(service.make({ fakeClock }), tenant, fakeClock.now);
      const name = (suffix: string) => `${tenant}-${suffix}`;
      await other.connect(name('a'), 'away', { cleanStart: false, expiry: 3600 });
      await other.subscribe(name('a'), ['$share/g/work'], 2);
      await other.frame(name('a'), DISCONNECT);
      await other.connect(name('m'), 'member');
      await other.subscribe(name('m'), ['$share/g/work'], 2);
      const hooks = hooksOf(async () => await other.frame(name('m'), DISCONNECT));
      const publisher = new Door(service.make({ fakeClock, hooks }), tenant, fakeClock.now);
      await publisher.connect(name('p'), 'publisher');
      const waiting = async () => {
        const away = await other.stores.sessions.get(tenant, 'away');
        return away === undefined ? 0 : await service.make({ fakeClock }).queues.length(away.session);
      };
      return { publisher, connectionId: name('p'), waiting };
    };

    it.each([1, 2] as const)(
      'after it was chosen, and before it is given the message, swallows none at QoS %i: another gets it',
      async (qos) => {
        const { publisher, connectionId, waiting } = await group((end) => once(isRecordWrite, end));
        const { replies } = await publisher.frame(connectionId, publishOf('work', { qos }));
        expect(replies).toMatchObject([{ type: qos === 1 ? 'puback' : 'pubrec', reasonCode: 0 }]);
        expect(publisher.published.flatMap(({ deliveries }) => deliveries)).toEqual([]);
        expect(await waiting()).toBe(1);
      },
    );

    it.each([1, 2] as const)(
      'before a message is in its log leaves the message to another, at QoS %i under the name of the first copy',
      async (qos) => {
        const stores = service.make();
        const tenant = unique('tenant');
        const { session } = await open(stores, tenant, 'member');
        const away = (await detach(stores, session, 'member:1'))?.session ?? session;
        const end = async () => {
          expect(await stores.sessions.remove(away)).toBe(true);
          expect(await stores.queues.unacknowledged(away)).toEqual([]);
          await stores.queues.clear(away);
        };
        const publisher = service.make({ hooks: once(isAppend, end) });
        const offerTo = async (ref: SessionRef, copy: string) => {
          const delivery = deliveryTo({ ...ref }, { qos, share: SHARE, copy });
          await publisher.queues.offer(messageOf(1, { qos }), [delivery], ROOMY);
          return delivery;
        };
        const { passOnAs = 'nothing' } = await offerTo(away, '');
        const { session: other } = await open(stores, tenant, 'other');
        expect((await offerTo(other, passOnAs)).packetId).toBeGreaterThan(0);
        expect(await stores.queues.unacknowledged(away)).toEqual([]);
      },
    );

    it('before the message of a dying publisher is in its log leaves the message to the repetition at QoS 2', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'member');
      const away = (await detach(stores, session, 'member:1'))?.session ?? session;
      const end = async () => {
        expect(await stores.sessions.remove(away)).toBe(true);
        expect(await stores.queues.unacknowledged(away)).toEqual([]);
      };
      const die = async () => {
        throw new Error('killed');
      };
      const offerTo = async (ref: SessionRef, copy: string, hooks: Hooks = {}) => {
        const delivery = deliveryTo({ ...ref }, { qos: 2, share: SHARE, copy });
        await service.make({ hooks }).queues.offer(messageOf(1, { qos: 2 }), [delivery], ROOMY);
        return delivery;
      };
      const hooks = { ...once(isAppend, end), ...onceAfter(isAppend, die) };
      await expect(offerTo(away, '', hooks)).rejects.toThrow('killed');
      const { session: other } = await open(stores, tenant, 'other');
      expect(await offerTo(other, '')).toMatchObject({ packetId: 0, passOnAs: away.incarnation });
      expect((await offerTo(other, away.incarnation)).packetId).toBeGreaterThan(0);
      const { packetId, passOnAs } = await offerTo(other, '');
      expect([packetId, passOnAs]).toEqual([0, undefined]);
    });

    it('where its publisher takes a place meanwhile is listed or passed on, and not both', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'member');
      let listed: readonly string[] = [];
      const end = async () => {
        const away = (await detach(stores, session, 'member:1', 0))?.session ?? session;
        expect(await stores.sessions.remove(away)).toBe(true);
        listed = (await stores.queues.unacknowledged(away)).map(({ message }) => message.id);
      };
      const delivery = deliveryTo({ ...session }, { share: SHARE });
      const publisher = service.make({ hooks: onceAfter(isRecordWrite, end) });
      await publisher.queues.offer(messageOf(1), [delivery], ROOMY);
      expect(listed).toEqual([messageOf(1).id]);
      expect(delivery.packetId).toBe(0);
      expect(delivery.passOnAs).toBeUndefined();
    });

    it('when it has been sent a message of QoS 2 leaves nothing to a repetition of the fan-out', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'member');
      const offerTo = async (ref: SessionRef) => {
        const delivery = deliveryTo({ ...ref }, { qos: 2, share: SHARE, copy: '' });
        await stores.queues.offer(messageOf(1, { qos: 2 }), [delivery], ROOMY);
        return delivery;
      };
      const { packetId } = await offerTo(session);
      expect(await stores.queues.release(session, packetId)).toBe('done');
      const away = (await detach(stores, session, 'member:1', 0))?.session ?? session;
      expect(await stores.sessions.remove(away)).toBe(true);
      expect(await stores.queues.unacknowledged(away)).toEqual([]);
      await stores.queues.clear(away);
      const { session: other } = await open(stores, tenant, 'other');
      const { packetId: again, passOnAs } = await offerTo(other);
      expect([again, passOnAs]).toEqual([0, undefined]);
    });

    it('is not among the members that may get a message, although its subscriptions are still there', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'member');
      await stores.subscriptions.put(session, [{ ...subscriptionTo('work'), ...SHARE }], 10);
      const { session: away } = await open(stores, tenant, 'away');
      await stores.subscriptions.put(away, [{ ...subscriptionTo('work'), ...SHARE }], 10);
      await open(stores, tenant, 'member', { cleanStart: true, connectionId: 'member:2' });
      const [matched] = await service.make().subscriptions.match(tenant, 'work');
      expect(matched?.subscribers.map((each) => each.session.clientId)).toEqual(['away']);
      const members = await stores.subscriptions.members(tenant, SHARE);
      expect(members.map((each) => each.session.clientId)).toEqual(['away']);
    });

    it('costs no second reading of a group whose members were all read', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      for (const clientId of ['one', 'two']) {
        const { session } = await open(stores, tenant, clientId);
        await stores.subscriptions.put(session, [{ ...subscriptionTo('work'), ...SHARE }], 10);
        await detach(stores, session, `${clientId}:1`);
      }
      const readsOf = async () => {
        const publisher = service.make();
        await publisher.subscriptions.match(tenant, 'other');
        const before = publisher.meter.units;
        await publisher.subscriptions.match(tenant, 'work');
        return publisher.meter.since(before).reads;
      };
      const reads = await readsOf();
      await open(stores, tenant, 'two', { cleanStart: true, connectionId: 'two:2' });
      expect(await readsOf()).toBe(reads);
    });

    it('before a message is offered to it leaves that for another, as the same copy', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'member');
      const [shared, plain] = [{ share: SHARE, copy: 'one' }, { copy: 'two' }].map((fields) =>
        deliveryTo({ ...session }, { qos: 2, ...fields }),
      );
      await open(stores, tenant, 'member', { cleanStart: true, connectionId: 'member:2' });
      expect(
        await stores.queues.offer(
          messageOf(1, { qos: 2 }),
          [shared, plain].filter((each) => each !== undefined),
          ROOMY,
        ),
      ).toBe(0);
      expect([shared?.passOnAs, plain?.passOnAs]).toEqual(['one', undefined]);
    });
  });
});

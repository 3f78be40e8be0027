import type { Queued, SessionRef } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { deliveryTo, detach, messageOf, open, PAGE, ROOMY, unique } from './support/client.ts';
import { type IsDue, once } from './support/hooks.ts';
import { NOW_MS, withService } from './support/stores.ts';

const sendsAgain: IsDue = (operation, input) =>
  operation === 'UpdateItem' && JSON.stringify(input).includes('c <> :connection');

const deletes: IsDue = (operation) => operation === 'DeleteItem';

const sentOf = (page: readonly Queued[]) =>
  page.map((each) =>
    each.type === 'pubrel' ? `pubrel ${each.packetId}` : `${each.message.id}${each.delivery.dup ? '+' : ''}`,
  );
const packetIdsOf = (page: readonly Queued[]) =>
  page.map((each) => (each.type === 'pubrel' ? each.packetId : each.delivery.packetId));
const id = (number: number) => messageOf(number).id;

await withService((service) => {
  /** A client that has been sent some messages, and comes back; its old connection is `old`. */
  const back = async (sent: number, qos: 1 | 2, receiveMaximum = 10) => {
    const stores = service.make();
    const tenant = unique('tenant');
    const { session: old } = await open(stores, tenant, 'c', { attachment: { receiveMaximum: 10 } });
    const offer = async (number: number, session: SessionRef) => {
      const delivery = deliveryTo({ ...session }, { qos });
      await stores.queues.offer(messageOf(number, { qos }), [delivery], ROOMY);
      return delivery.packetId;
    };
    const packetIds: number[] = [];
    for (let number = 1; number <= sent; number += 1) packetIds.push(await offer(number, old));
    const away = (await detach(stores, old, 'c:1'))?.session ?? old;
    const waiting = { offer: async (number: number) => await offer(number, away) };
    const connect = async (connectionId = 'c:2') =>
      (await open(stores, tenant, 'c', { connectionId, attachment: { receiveMaximum } })).session;
    return { stores, old, packetIds, waiting, connect, offer };
  };

  const drainWhile = async (session: SessionRef, whileDraining: () => Promise<unknown>) => {
    const drain = service.make({ hooks: once(sendsAgain, whileDraining) });
    return sentOf(await drain.queues.next({ ...session }, PAGE, NOW_MS));
  };

  describe('a late frame of the old connection, while the new one is sent what it left', () => {
    it.each([1, 2, 3])(
      'brings PUBREC for message %i of three: its PUBREL takes its place [MQTT-4.3.3-6] [MQTT-4.4.0-1]',
      async (number) => {
        const { stores, old, packetIds, connect, offer } = await back(3, 2);
        const session = await connect();
        const late = packetIds[number - 1] ?? 0;
        const sent = await drainWhile(session, async () => {
          expect(await stores.queues.release(old, late)).toBe('done');
        });
        const expected = [1, 2, 3].map((each) => (each === number ? `pubrel ${late}` : `${id(each)}+`));
        expect(sent).toEqual(expected);
        expect(await stores.queues.next(session, PAGE, NOW_MS)).toEqual([]);
        for (const packetId of packetIds) {
          expect(await stores.queues.release(session, packetId)).toBe('done');
          expect(await stores.queues.complete(session, packetId, 'pubcomp')).toBe('done');
        }
        expect(await stores.queues.next(session, PAGE, NOW_MS)).toEqual([]);
        expect(await offer(4, session)).toBeGreaterThan(0);
      },
    );

    it('brings the last answer that was awaited: what waits behind that is drawn in its place', async () => {
      const { stores, old, packetIds, waiting, connect } = await back(1, 1, 1);
      await waiting.offer(2);
      const session = await connect();
      const sent = await drainWhile(session, async () => {
        expect(await stores.queues.complete(old, packetIds[0] ?? 0, 'puback')).toBe('done');
      });
      expect(sent).toEqual([id(2)]);
    });

    it('brings PUBACK for what was drawn, behind the list of the new one: its own PUBACK looks all the same', async () => {
      const { stores, waiting, connect, offer } = await back(0, 1);
      await waiting.offer(1);
      const old = await connect('c:2');
      const frameOf = async <T>(session: SessionRef, run: () => Promise<T>) => {
        const connectionId = session.attachment?.connectionId ?? '';
        await stores.beginFrame({ connectionId, tenant: session.tenant, topicNames: [], looksAtEnd: true });
        const result = await run();
        stores.endFrame();
        return result;
      };
      const draw = async (session: SessionRef) =>
        await frameOf(session, async () => await stores.queues.next({ ...session }, PAGE, NOW_MS));
      const packetIds = packetIdsOf(await draw(old));
      const [packetId = 0] = packetIds;
      let session = old;
      const late = service.make({
        hooks: once(deletes, async () => {
          session = await connect('c:3');
          expect(packetIdsOf(await draw(session))).toEqual(packetIds);
        }),
      });
      expect(await late.queues.complete({ ...old }, packetId, 'puback')).toBe('done');
      // What was sent again is not acknowledged on this connection, and holds it back.
      expect(await offer(2, session)).toBe(0);
      await frameOf(session, async () => {
        await stores.queues.complete({ ...session }, packetId, 'puback');
        expect(stores.takeOwedLook()).toBe(true);
        expect(sentOf(await stores.queues.next({ ...session }, PAGE, NOW_MS))).toEqual([id(2)]);
      });
    });
  });
});

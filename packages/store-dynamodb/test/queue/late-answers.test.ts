import type { Queued, SessionRef } from '@apus/broker';
import type { EventStores } from '@apus/store-dynamodb';
import { describe, expect, it } from 'vitest';
import { deliveryTo, detach, messageOf, open, PAGE, ROOMY, unique } from '../support/client.ts';
import { type IsDue, isRecordWrite, once } from '../support/hooks.ts';
import { NOW_MS, withService } from '../support/stores.ts';

const deletes: IsDue = (operation, input) =>
  operation === 'BatchWriteItem' && JSON.stringify(input).includes('DeleteRequest');

const sentOf = (page: readonly Queued[]) =>
  page.map((each) =>
    each.type === 'pubrel' ? `pubrel ${each.packetId}` : `${each.message.id}${each.delivery.dup ? '+' : ''}`,
  );
const packetIdsOf = (page: readonly Queued[]) =>
  page.map((each) => (each.type === 'pubrel' ? each.packetId : each.delivery.packetId));
const id = (number: number) => messageOf(number).id;

await withService((service) => {
  /** A client that has been sent some messages, and is connected still; its connection is `old`. */
  const begin = async (sent: number, qos: 1 | 2, receiveMaximum = 10) => {
    const stores = service.make();
    const tenant = unique('tenant');
    const attachment = { receiveMaximum };
    const { session: old } = await open(stores, tenant, 'c', { attachment });
    const offer = async (number: number, session: SessionRef) => {
      const delivery = deliveryTo({ ...session }, { qos });
      await stores.queues.offer(messageOf(number, { qos }), [delivery], ROOMY);
      return delivery.packetId;
    };
    const packetIds: number[] = [];
    for (let number = 1; number <= sent; number += 1) packetIds.push(await offer(number, old));
    const connect = async (connectionId = 'c:2') =>
      (await open(stores, tenant, 'c', { connectionId, attachment })).session;
    return { stores, old, packetIds, connect, offer };
  };

  /** The messages that CONNECT dequeues; `whileDequeuing` runs just before CONNECT writes the record. */
  const dequeuedWhile = async (session: SessionRef, whileDequeuing: () => Promise<unknown>) => {
    const { queues } = service.make({ hooks: once(isRecordWrite, whileDequeuing) });
    return sentOf(await queues.next(session, PAGE, NOW_MS));
  };

  describe('a late frame of the old connection, while the new one is sent its waiting messages', () => {
    it.each([1, 2, 3])(
      'brings PUBREC for message %i of three: its PUBREL takes its place [MQTT-4.3.3-6] [MQTT-4.4.0-1]',
      async (number) => {
        const { stores, old, packetIds, connect, offer } = await begin(3, 2);
        const session = await connect();
        const late = packetIds[number - 1] ?? 0;
        const sent = await dequeuedWhile(session, async () => {
          expect(await stores.queues.release(old, late)).toBe('done');
        });
        const others = [1, 2, 3].filter((each) => each !== number);
        expect(sent).toEqual([`pubrel ${late}`, ...others.map((each) => `${id(each)}+`)]);
        expect(await stores.queues.next(session, PAGE, NOW_MS)).toEqual([]);
        for (const packetId of packetIds) {
          if (packetId !== late) expect(await stores.queues.release(session, packetId)).toBe('done');
          expect(await stores.queues.complete(session, packetId, 'pubcomp')).toBe('done');
        }
        expect(await stores.queues.next(session, PAGE, NOW_MS)).toEqual([]);
        expect(await offer(4, session)).toBeGreaterThan(0);
      },
    );

    it('brings PUBREC, and is known to be lost: the message is sent again [MQTT-4.4.0-1]', async () => {
      const { stores, old, packetIds, connect } = await begin(2, 2);
      await detach(stores, old, 'c:1');
      const session = await connect();
      const sent = await dequeuedWhile(session, async () => {
        expect(await stores.queues.release(old, packetIds[0] ?? 0)).toBe('ended');
      });
      expect(sent).toEqual([`${id(1)}+`, `${id(2)}+`]);
      for (const packetId of packetIds) expect(await stores.queues.release(session, packetId)).toBe('done');
    });

    it('brings the last awaited answer: the messages that wait are dequeued in their order', async () => {
      const { stores, old, packetIds, connect, offer } = await begin(1, 1, 1);
      expect(await offer(2, old)).toBe(0);
      const session = await connect();
      const sent = await dequeuedWhile(session, async () => {
        expect(await stores.queues.complete(old, packetIds[0] ?? 0, 'puback')).toBe('done');
      });
      expect(sent).toEqual([id(2)]);
    });

    it('brings PUBACK for a dequeued message after the page of the new one: the PUBACK of the new one dequeues all the same', async () => {
      const { stores, old: first, connect, offer } = await begin(0, 1);
      await detach(stores, first, 'c:1');
      expect(await offer(1, { ...first, attachment: undefined })).toBe(0);
      const old = await connect('c:2');
      const frameOf = async <T>(session: SessionRef, run: (event: EventStores) => Promise<T>) => {
        const connectionId = session.attachment?.connectionId ?? '';
        const event = stores.forEvent({ connectionId, looksAtEnd: true });
        const result = await run(event);
        await event.commit();
        return result;
      };
      const dequeue = async (session: SessionRef) =>
        await frameOf(session, async ({ queues }) => await queues.next(session, PAGE, NOW_MS));
      const packetIds = packetIdsOf(await dequeue(old));
      const [packetId = 0] = packetIds;
      let session = old;
      const late = service.make({
        hooks: once(deletes, async () => {
          session = await connect('c:3');
          expect(packetIdsOf(await dequeue(session))).toEqual(packetIds);
        }),
      });
      expect(await late.queues.complete({ ...old }, packetId, 'puback')).toBe('unknown');
      expect(session).not.toBe(old);
      // The page of this connection may not have arrived, and holds it back.
      expect(await offer(2, session)).toBe(0);
      await frameOf(session, async (event) => {
        expect(await event.queues.complete({ ...session }, packetId, 'puback')).toBe('done');
        expect(event.takeDrainDue()).toBe(true);
        expect(sentOf(await event.queues.next({ ...session }, PAGE, NOW_MS))).toEqual([id(2)]);
      });
    });
  });
});

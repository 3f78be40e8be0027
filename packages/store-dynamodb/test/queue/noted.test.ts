import type { DynamoStores } from '@apus/store-dynamodb';
import { describe, expect, it } from 'vitest';
import { NOTED_MAX } from '../../src/limits.ts';
import { deliveryTo, detach, messageOf, open, PAGE, ROOMY, unique } from '../support/client.ts';
import { failure, type Hooks, NOW_MS, withService } from '../support/stores.ts';

type Answer = 'puback' | 'pubrec' | 'pubcomp';

await withService((service) => {
  describe('an acknowledgement that is alone in its frame', () => {
    /** A client that is connected, and what it is sent. */
    async function scene(receiveMaximum = 1) {
      const stores = service.make();
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'c', { attachment: { receiveMaximum } });
      let number = 0;
      const offer = async (qos: 1 | 2 = 1) => {
        number += 1;
        const delivery = deliveryTo({ ...session }, { qos });
        await stores.queues.offer(messageOf(number, { qos }), [delivery], ROOMY);
        return delivery.packetId;
      };
      const reopen = async () => (await open(stores, tenant, 'c', { connectionId: 'c:2' })).session;
      return { stores, session, offer, reopen };
    }

    const frameOf = (stores: DynamoStores, answer: Answer) =>
      stores.forEvent({
        connectionId: 'c:1',
        looksAtEnd: true,
        isReplyWanted: answer === 'pubrec',
        isOnePacket: true,
      });

    async function answer(
      stores: DynamoStores,
      session: Awaited<ReturnType<typeof scene>>['session'],
      packetId: number,
      packet: Answer,
    ) {
      const frame = frameOf(stores, packet);
      const its = { ...session };
      const outcome =
        packet === 'pubrec'
          ? await frame.queues.release(its, packetId)
          : await frame.queues.complete(its, packetId, packet);
      await frame.commit();
      return outcome;
    }

    it('frees the place of its message, for one write and no read', async () => {
      const { stores, session, offer } = await scene();
      const packetId = await offer();
      const before = stores.meter.units;
      expect(await answer(stores, session, packetId, 'puback')).toBe('done');
      expect(stores.meter.since(before)).toMatchObject({ reads: 0, writes: 1 });
      expect(await offer()).toBeGreaterThan(packetId);
      expect(await offer()).toBe(0);
    });

    it('is followed by its PUBREL and PUBCOMP at QoS 2, and the place is free after them', async () => {
      const { stores, session, offer } = await scene();
      const packetId = await offer(2);
      expect(await answer(stores, session, packetId, 'pubcomp')).toBe('out-of-place');
      expect(await answer(stores, session, packetId, 'pubrec')).toBe('done');
      expect(await answer(stores, session, packetId, 'pubrec')).toBe('done');
      expect(await answer(stores, session, packetId, 'pubcomp')).toBe('done');
      expect(await answer(stores, session, packetId, 'pubcomp')).toBe('unknown');
      expect(await offer(2)).toBeGreaterThan(0);
    });

    it.each([
      ['puback', 1, 'unknown'],
      ['pubrec', 2, 'ended'],
    ] as const)(
      '%s does not count on a connection that the session has lost',
      async (packet, qos, outcome) => {
        const { stores, session, offer, reopen } = await scene();
        const packetId = await offer(qos);
        await detach(stores, session, 'c:1');
        expect(await answer(stores, session, packetId, packet)).toBe(outcome);
        const back = await reopen();
        expect(await stores.queues.next(back, PAGE, NOW_MS)).toMatchObject([
          { type: 'publish', delivery: { packetId, dup: true } },
        ]);
        expect(await answer(stores, session, packetId, packet)).toBe(outcome);
        expect(await stores.queues.complete({ ...back }, packetId, qos === 1 ? 'puback' : 'pubrec')).toBe(
          'done',
        );
      },
    );

    it('is there for the next connection, which sends PUBREL again and not the message', async () => {
      const { stores, session, offer, reopen } = await scene(2);
      const released = await offer(2);
      const acknowledged = await offer();
      await answer(stores, session, released, 'pubrec');
      await answer(stores, session, acknowledged, 'puback');
      await detach(stores, session, 'c:1');
      expect(await stores.queues.next(await reopen(), PAGE, NOW_MS)).toEqual([
        { type: 'pubrel', packetId: released },
      ]);
    });

    it.each(['puback', 'pubrec'] as const)('%s counts once where its answer is lost', async (packet) => {
      const { stores, session, offer } = await scene(2);
      const qos = packet === 'puback' ? 1 : 2;
      const packetId = await offer(qos);
      const other = await offer(qos);
      let calls = 0;
      const after: Hooks['after'] = () => {
        calls += 1;
        if (calls === 1) throw failure('TimeoutError');
      };
      expect(await answer(service.make({ hooks: { after } }), session, packetId, packet)).toBe('done');
      expect(calls).toBe(2);
      if (packet === 'pubrec') expect(await answer(stores, session, packetId, 'pubcomp')).toBe('done');
      expect(await offer(qos)).toBeGreaterThan(0);
      expect(await offer(qos)).toBe(0);
      expect(await answer(stores, session, other, packet)).toBe('done');
    });

    it.each([
      ['puback', 2],
      ['pubrec', 1],
      ['pubcomp', 2],
    ] as const)('%s of a message of QoS %i is out of place, and changes nothing', async (packet, qos) => {
      const { stores, session, offer } = await scene();
      const packetId = await offer(qos);
      expect(await answer(stores, session, packetId, packet)).toBe('out-of-place');
      expect(await answer(stores, session, packetId, qos === 1 ? 'puback' : 'pubrec')).toBe('done');
    });

    it('says nothing of a packet id that is not in use, nor of a session without a record', async () => {
      const { stores, session, offer } = await scene();
      expect(await answer(stores, session, 1, 'puback')).toBe('unknown');
      const packetId = await offer();
      expect(await answer(stores, session, packetId + 2, 'puback')).toBe('unknown');
      expect(await offer()).toBe(0);
    });

    it('reads the record when that has noted as much as it takes: a client that makes ids up does not fill it', async () => {
      const { stores, session, offer } = await scene();
      const packetId = await offer();
      for (let madeUp = 0; madeUp < NOTED_MAX; madeUp += 1)
        expect(await answer(stores, session, 9_001 + 2 * madeUp, 'puback')).toBe('unknown');
      const before = stores.meter.units;
      expect(await answer(stores, session, 9_999, 'puback')).toBe('unknown');
      expect(stores.meter.since(before).reads).toBe(1);
      expect(await answer(stores, session, packetId, 'puback')).toBe('done');
      const after = stores.meter.units;
      expect(await answer(stores, session, 9_999, 'puback')).toBe('unknown');
      expect(stores.meter.since(after).reads).toBe(0);
    });

    it('deletes from the log before it counts, where its message stands there', async () => {
      const { stores, session, offer, reopen } = await scene();
      await detach(stores, session, 'c:1');
      expect(await offer()).toBe(0);
      const back = await reopen();
      const [queued] = await stores.queues.next(back, PAGE, NOW_MS);
      const packetId = queued?.type === 'publish' ? queued.delivery.packetId : 0;
      const frame = stores.forEvent({ connectionId: 'c:2', isReplyWanted: false, isOnePacket: true });
      expect(await frame.queues.complete({ ...back }, packetId, 'puback')).toBe('done');
      await frame.commit();
      expect(await stores.queues.length(back)).toBe(0);
      await detach(stores, back, 'c:2');
      const { session: again } = await open(stores, back.tenant, 'c', { connectionId: 'c:3' });
      expect(await stores.queues.next(again, PAGE, NOW_MS)).toEqual([]);
    });
  });
});

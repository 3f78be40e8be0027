import type { Delivery, Queued, SessionRef } from '@apus/broker';
import type { DynamoStores } from '@apus/store-dynamodb';
import { describe, expect, it } from 'vitest';
import { LETTER_OF } from '../src/session-item.ts';
import { firstId } from '../src/window.ts';
import { deliveryTo, messageOf, open, PAGE, ROOMY, unique } from './support/client.ts';
import { type HeldUp, heldUp, type IsDue, isListWrite, isPutInflight, once } from './support/hooks.ts';
import { type Hooks, NOW_MS, withService } from './support/stores.ts';

const KILLED = 'the environment was killed';

const id = (number: number) => messageOf(number).id;
const idsOf = (page: readonly Queued[]) =>
  page.map((each) => (each.type === 'publish' ? each.message.id : 'pubrel'));
const packetIdOf = ([first]: readonly Queued[]) => (first?.type === 'publish' ? first.delivery.packetId : 0);

/** Both, the first before the second. */
const both = (first: Hooks, second: Hooks): Hooks => ({
  before: async (operation, input) => {
    await first.before?.(operation, input);
    await second.before?.(operation, input);
  },
  after: async (operation, input) => await second.after?.(operation, input),
});

/** A message leaves the window that nobody has acknowledged. */
const takesOut: IsDue = (operation, input) => {
  const json = JSON.stringify(input);
  if (operation === 'DeleteItem') return /sent\\u0000\d/.test(json);
  return operation === 'TransactWriteItems' && /"Delete":\{.*sent\\u0000\d.*"Put":/.test(json);
};

/** What is inflight is counted. */
const counts: IsDue = (operation) => operation === 'Query';

const readsWaiting: IsDue = (operation, input) =>
  operation === 'Query' && JSON.stringify(input).includes('wait\\u0000');

/** A session item's phase becomes this one. */
const changesPhase =
  (phase: keyof typeof LETTER_OF): IsDue =>
  (operation, input) =>
    operation === 'UpdateItem' && JSON.stringify(input).includes(`":to":{"S":"${LETTER_OF[phase]}"}`);

await withService((service) => {
  type Fields = Partial<Delivery>;

  const offer = async (stores: DynamoStores, session: SessionRef, number: number, fields: Fields = {}) => {
    const delivery = deliveryTo({ ...session }, fields);
    await stores.queues.offer(messageOf(number, { qos: delivery.qos }), [delivery], ROOMY);
    return delivery.packetId;
  };
  const next = async (stores: DynamoStores, session: SessionRef) =>
    await stores.queues.next(session, PAGE, NOW_MS);
  const puback = async ({ queues }: DynamoStores, session: SessionRef, packetId: number) =>
    expect(await queues.complete(session, packetId, 'puback')).toBe('done');
  const exchange = async ({ queues }: DynamoStores, session: SessionRef, packetId: number) => {
    expect(await queues.release(session, packetId)).toBe('done');
    expect(await queues.complete(session, packetId, 'pubcomp')).toBe('done');
  };

  describe('a publisher that took a session for live which drains by now', () => {
    /**
     * Just before the third message gets its packet id, of the only one there is, the second finds the window full and
     * waits, and the first is acknowledged.
     */
    const race = async (
      fields: Fields,
      whenDraining: (stores: DynamoStores, session: SessionRef) => unknown,
    ) => {
      const stores = service.make();
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'c', { attachment: { receiveMaximum: 1 } });
      expect(await next(stores, session)).toEqual([]);
      const first = await offer(stores, session, 1);
      const hooks = once(isPutInflight, async () => {
        expect(await offer(service.make(), session, 2, fields)).toBe(0);
        await puback(stores, session, first);
        await whenDraining(stores, session);
      });
      return { stores, session, hooks };
    };

    /** The same, and the second is drawn, under an id above the window, before the third counts what is in that. */
    const exceed = async (fields: Fields, whenFull: (session: SessionRef) => unknown = () => {}) => {
      const moving = heldUp(isPutInflight);
      let drawing: Promise<readonly Queued[]> = Promise.resolve([]);
      const { stores, session, hooks } = await race(fields, async (_stores, queue) => {
        await whenFull(queue);
        drawing = next(service.make(fields.qos === 2 ? { hooks: moving.hooks } : {}), queue);
        await (fields.qos === 2 ? moving.reached : drawing);
      });
      const drawn = async () => {
        moving.release();
        return await drawing;
      };
      return { stores, session, drawn, hooks: both(hooks, once(counts, drawn)) };
    };

    const LEVELS = [
      ['at QoS 1', { qos: 1 }],
      ['at QoS 2', { qos: 2 }],
      ['at QoS 2, and known when it comes again', { qos: 2, copy: '' }],
    ] as const;

    it.each(LEVELS)(
      'gives way to what was drawn: its message waits, %s [MQTT-3.3.4-9]',
      async (_what, fields) => {
        const { stores, session, drawn, hooks } = await exceed(fields);
        expect(await offer(service.make({ hooks }), session, 3, fields)).toBe(0);
        const page = await drawn();
        expect(idsOf(page)).toEqual([id(2)]);
        expect(packetIdOf(page)).toBe(2);
        expect(await next(stores, session)).toEqual([]);
        const acknowledge = fields.qos === 1 ? puback : exchange;
        await acknowledge(stores, session, packetIdOf(page));
        const rest = await next(stores, session);
        expect(idsOf(rest)).toEqual([id(3)]);
        await acknowledge(stores, session, packetIdOf(rest));
        expect(await next(stores, session)).toEqual([]);
        expect(await offer(stores, session, 4)).toBeGreaterThan(0);
      },
    );

    it.each(LEVELS)('does not leave what waits to nobody when it gives way, %s', async (_what, fields) => {
      const acknowledge = fields.qos === 1 ? puback : exchange;
      const { stores, session, drawn, hooks } = await exceed(fields, async (queue) => {
        expect(await offer(service.make(), queue, 4, fields)).toBe(0);
      });
      // A look finds the window full: what is in it is about to leave it.
      const leaving = once(takesOut, async () => {
        await acknowledge(stores, session, packetIdOf(await drawn()));
        expect(await next(stores, session)).toEqual([]);
      });
      const third = await offer(service.make({ hooks: both(hooks, leaving) }), session, 3, fields);
      expect(idsOf(await drawn())).toEqual([id(2)]);
      expect(third).toBeGreaterThan(0);
      await acknowledge(stores, session, third);
      expect(idsOf(await next(stores, session))).toEqual([id(4)]);
    });

    it('counts once more, and no oftener, beside many others', async () => {
      const stores = service.make();
      const { session } = await open(stores, unique('tenant'), 'c', { attachment: { receiveMaximum: 40 } });
      expect(await next(stores, session)).toEqual([]);
      const held = Array.from({ length: 20 }, () => heldUp(isPutInflight));
      const offers = held.map(({ hooks }, index) => offer(service.make({ hooks }), session, 2 + index));
      await Promise.all(held.map(({ reached }) => reached));
      const first = deliveryTo({ ...session });
      await stores.queues.offer(messageOf(1), [first], ROOMY, new Set([first]));
      for (const { release } of held) release();
      for (const packetId of await Promise.all(offers)) expect(packetId).toBeGreaterThan(0);
    });

    it('makes a drain count again that has not drawn yet, and has what waits looked for', async () => {
      const held: HeldUp = heldUp(isListWrite);
      let drawing: Promise<readonly Queued[]> = Promise.resolve([]);
      const { stores, session, hooks } = await race({}, async () => {
        drawing = next(service.make({ hooks: held.hooks }), session);
        await held.reached;
      });
      const third = await offer(service.make({ hooks }), session, 3);
      expect(third).toBeGreaterThan(0);
      held.release();
      expect(await drawing).toEqual([]);
      await puback(stores, session, third);
      expect(idsOf(await next(stores, session))).toEqual([id(2)]);
    });

    it('sees a message that goes from the waiting ones into the window while it counts', async () => {
      const moving = heldUp(isPutInflight);
      let drawing: Promise<readonly Queued[]> = Promise.resolve([]);
      const { stores, session, hooks } = await race({ qos: 2 }, async () => {
        drawing = next(service.make({ hooks: moving.hooks }), session);
        await moving.reached;
      });
      const counting = once(readsWaiting, async () => {
        moving.release();
        await drawing;
      });
      const third = offer(service.make({ hooks: both(hooks, counting) }), session, 3, { qos: 2 });
      expect(await third).toBe(0);
      const page = await drawing;
      expect(idsOf(page)).toEqual([id(2)]);
      await exchange(stores, session, packetIdOf(page));
      expect(idsOf(await next(stores, session))).toEqual([id(3)]);
    });

    it.each(['before', 'after'] as const)(
      'loses and doubles nothing when it is killed %s any of its calls and its fan-out repeated',
      async (when) => {
        const fields = { qos: 2, copy: '' } as const;
        for (let nth = 1; ; nth += 1) {
          const { stores, session, drawn, hooks } = await exceed(fields);
          let calls = 0;
          const die = () => {
            if (calls >= nth) throw new Error(KILLED);
          };
          const mortal: Hooks = {
            before: () => {
              calls += 1;
              if (when === 'before' || calls > nth) die();
            },
            after: die,
          };
          const fanOut = offer(service.make({ hooks: both(hooks, mortal) }), session, 3, fields);
          await fanOut.catch((error: unknown) => expect(String(error)).toContain(KILLED));
          const page = await drawn();
          await offer(stores, session, 3, fields);
          const left = (await stores.queues.unacknowledged(session)).map(({ message }) => message.id);
          expect(
            left.filter((each) => each === id(3)),
            `call ${nth}`,
          ).toEqual([id(3)]);
          if (page.length > 0) await exchange(stores, session, packetIdOf(page));
          if (calls < nth) return;
        }
      },
    );
  });

  describe('publishers that count a crowded window', () => {
    /** A session whose window holds a message that was drawn, under an id above those that publishers use. */
    const crowded = async (receiveMaximum: number) => {
      const stores = service.make();
      const tenant = unique('tenant');
      const attachment = { receiveMaximum };
      await open(stores, tenant, 'c', { attachment });
      const away = (await open(stores, tenant, 'c', { attachment, connectionId: 'c:2' })).session;
      const held = deliveryTo({ ...away });
      await stores.queues.offer(messageOf(1), [held], ROOMY, new Set([held]));
      const page = await next(stores, away);
      expect(idsOf(page)).toEqual([id(1)]);
      expect(packetIdOf(page)).toBeGreaterThan(receiveMaximum);
      return { stores, session: away, drawn: packetIdOf(page) };
    };

    it('do not exceed it together [MQTT-3.3.4-9]', async () => {
      const { stores, session } = await crowded(2);
      let second = 0;
      const hooks = once(isPutInflight, async () => {
        second = await offer(stores, session, 2);
      });
      const third = await offer(service.make({ hooks }), session, 3);
      expect(second).toBeGreaterThan(0);
      expect(third).toBe(0);
    });

    /** PUBREL is sent again: it holds the only id of the window, without a place in it. */
    /** Its PUBREL has id 1, the first of those that are in the window. */
    const withPubrel = async (receiveMaximum = 1) => {
      const isFirst = (number: number) => firstId({ m: { S: id(number) } }, receiveMaximum, 0) === 1;
      const released = [11, 12, 13, 14, 15, 16].find(isFirst) ?? 0;
      const stores = service.make();
      const tenant = unique('tenant');
      const attachment = { receiveMaximum };
      const before = (await open(stores, tenant, 'c', { attachment })).session;
      const first = await offer(stores, before, released, { qos: 2, copy: '' });
      expect(first).toBe(1);
      expect(await stores.queues.release(before, first)).toBe('done');
      const { session } = await open(stores, tenant, 'c', { attachment, connectionId: 'c:2' });
      expect(idsOf(await next(stores, session))).toEqual(['pubrel']);
      /** PUBCOMP, whose handler then looks. */
      const pubcomp = async (handler: DynamoStores) => {
        expect(await handler.queues.complete(session, first, 'pubcomp')).toBe('done');
        return await next(handler, session);
      };
      return { stores, session, pubcomp };
    };

    it('leave no id above those of a live window behind', async () => {
      const { stores, session, pubcomp } = await withPubrel();
      const hooks = once(isPutInflight, () => pubcomp(stores));
      expect(await offer(service.make({ hooks }), session, 2)).toBe(1);
    });

    it.each(['crowded', 'settling'])(
      'are seen by whoever is about to say live, when they find the session %s [MQTT-3.3.4-9]',
      async (phase) => {
        const { stores, session, pubcomp } = await withPubrel();
        const held = heldUp(phase === 'crowded' ? changesPhase('settling') : changesPhase('live'));
        let looking: Promise<unknown> = Promise.resolve();
        const hooks = once(isPutInflight, async () => {
          looking = pubcomp(service.make({ hooks: held.hooks }));
          await held.reached;
        });
        expect(await offer(service.make({ hooks }), session, 2)).toBe(2);
        held.release();
        await looking;
        expect(await offer(stores, session, 3)).toBe(0);
      },
    );

    it('leave what waits to a message, and not to a PUBREL, which has no place there', async () => {
      const { stores, session, pubcomp } = await withPubrel(2);
      const placed = [await offer(stores, session, 2), await offer(stores, session, 3)];
      expect(placed).not.toContain(0);
      expect(await offer(stores, session, 4)).toBe(0);
      const drawn = [...(await pubcomp(stores))];
      for (const packetId of placed) {
        await puback(stores, session, packetId);
        drawn.push(...(await next(stores, session)));
      }
      expect(idsOf(drawn)).toEqual([id(4)]);
    });

    it('leave what waits to nobody less when somebody is about to say live', async () => {
      const { stores, session, drawn } = await crowded(2);
      await puback(stores, session, drawn);
      const placed = [await offer(stores, session, 2), await offer(stores, session, 3)];
      expect([...placed].sort()).toEqual([1, 2]);
      const held = heldUp(changesPhase('live'));
      let looking: Promise<readonly Queued[]> = Promise.resolve([]);
      const hooks = once(changesPhase('draining'), async () => {
        looking = next(service.make({ hooks: held.hooks }), session);
        await held.reached;
      });
      expect(await offer(service.make({ hooks }), session, 4)).toBe(0);
      held.release();
      const page = [...(await looking)];
      for (const packetId of placed) {
        await puback(stores, session, packetId);
        page.push(...(await next(stores, session)));
      }
      expect(idsOf(page)).toEqual([id(4)]);
    });
  });
});

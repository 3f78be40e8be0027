import type { Queued, SessionRef, Stores } from '@apus/broker';
import { openedOf } from '@apus/broker/samples';
import { describe, expect, it } from 'vitest';
import {
  attachmentOf,
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
import type { IsDue } from '../support/hooks.ts';
import { failure, type Hooks, NOW_MS, withService } from '../support/stores.ts';

const payloadsOf = (queued: readonly Queued[]) =>
  queued.map((each) => (each.type === 'publish' ? Buffer.from(each.message.payload).toString() : 'pubrel'));

/** Runs something once, just before or after the calls that a test names. */
class Interruption implements Hooks {
  #due: { readonly when: 'before' | 'after'; readonly isDue: IsDue; run(): Promise<unknown> } | undefined;
  count = 0;

  beforeFirst(isDue: IsDue, run: () => Promise<unknown>): void {
    this.#due = { when: 'before', isDue, run };
  }

  afterFirst(isDue: IsDue, run: () => Promise<unknown>): void {
    this.#due = { when: 'after', isDue, run };
  }

  async before(operation: string, input: object): Promise<void> {
    await this.#interrupt('before', operation, input);
  }

  async after(operation: string, input: object): Promise<void> {
    await this.#interrupt('after', operation, input);
  }

  async #interrupt(when: 'before' | 'after', operation: string, input: object): Promise<void> {
    const due = this.#due;
    if (due?.when !== when || !due.isDue(operation, input)) return;
    this.#due = undefined;
    this.count += 1;
    await due.run();
  }
}

const putsWaiting = (operation: string, input: object) =>
  operation === 'PutItem' && JSON.stringify(input).includes('wait\\u0000');

await withService((service) => {
  /** A publisher that can be interrupted, and a client handled by another process. */
  const begin = async (receiveMaximum = 10, takesNudges = true) => {
    const interruption = new Interruption();
    const nudged: string[] = [];
    const publisher = service.make({ hooks: interruption });
    const client = service.make();
    const tenant = unique('tenant');
    let connections = 1;
    const attachment = { receiveMaximum, takesNudges };
    let { session } = await open(client, tenant, 'c', { attachment });
    const copy = (ref: SessionRef): SessionRef => ({ ...ref, attachment: ref.attachment });
    return {
      interruption,
      publisher,
      client,
      tenant,
      /** The connections whose clients were told to fetch. */
      nudged,
      session: () => session,
      connect: async () => {
        connections += 1;
        const connectionId = `c:${connections}`;
        ({ session } = await open(client, tenant, 'c', { connectionId, attachment }));
        return session;
      },
      lose: async () => await detach(client, session, `c:${connections}`),
      complete: async (packetId: number) => await client.queues.complete(session, packetId, 'puback'),
      /** Pages until nothing comes, as the broker dequeues them. */
      drain: async () => {
        const dequeued: Queued[] = [];
        for (;;) {
          const page = await client.queues.next(session, PAGE, NOW_MS);
          if (page.length === 0) return payloadsOf(dequeued);
          dequeued.push(...page);
        }
      },
      offer: async (number: number, ref: SessionRef = session) => {
        const delivery = deliveryTo(copy(ref));
        nudged.push(...(await offerAsDoor(publisher, messageOf(number), [delivery])));
        return delivery;
      },
    };
  };

  describe('append, then look again', () => {
    it('a client that takes no nudges is sent none, and gets the message with its next fetch', async () => {
      const race = await begin(10, false);
      await race.lose();
      race.interruption.beforeFirst(putsWaiting, async () => {
        await race.connect();
        expect(await race.drain()).toEqual([]);
      });
      expect((await race.offer(1)).packetId).toBe(0);
      expect(race.nudged).toEqual([]);
      expect(await race.drain()).toEqual(['1']);
      expect((await race.offer(2)).packetId).not.toBe(0);
    });

    it('a message does not overtake one of its topic that another frame has let wait, when a place is free again', async () => {
      const stores = service.make();
      const { session } = await open(stores, unique('tenant'), 'c', { attachment: { receiveMaximum: 1 } });
      await stores.subscriptions.put(session, [{ ...subscriptionTo('t'), qos: 2 }], 10);
      const frame = stores.forEvent();
      const offer = async (number: number, qos: 1 | 2) => {
        const [matched] = await frame.subscriptions.match(session.tenant, 't');
        const to = matched?.subscribers[0]?.session ?? session;
        const delivery = deliveryTo(to, { qos, copy: '' });
        await frame.queues.offer(messageOf(number, { qos }), [delivery], ROOMY);
        return delivery.packetId;
      };
      expect(await offer(1, 1)).toBe(1);
      // Another process lets one wait, and objects.
      const other = service.make();
      const [fresh] = await other.subscriptions.match(session.tenant, 't');
      await other.queues.offer(messageOf(2), [deliveryTo(fresh?.subscribers[0]?.session ?? session)], ROOMY);
      expect(await offer(3, 2)).toBe(0);
      expect(await frame.queues.complete({ ...session }, 1, 'puback')).toBe('done');
      await frame.commit();
      expect(await offer(4, 2)).toBe(0);
    });

    /**
     *     publisher A                    frame                            publisher B
     *     appends 5
     *                                    dequeues 4 and 5: closing
     *     looks: closing, objects: backlog
     *                                    asks again, finds nothing: closing
     *                                                                     has 6: posted, it would overtake the reply
     */
    it('a message does not overtake the reply of a frame that asks once more, as a publisher has objected meanwhile [MQTT-4.6.0-6]', async () => {
      const { interruption, publisher, session, offer } = await begin(3);
      for (const number of [1, 2, 3]) await offer(number);
      await offer(4);
      const frame = publisher.forEvent();
      const dequeued: Queued[] = [];
      const dequeue = async () => {
        for (const packetId of [1, 2, 3]) await frame.queues.complete(session(), packetId, 'puback');
        dequeued.push(...(await frame.queues.next(session(), PAGE, NOW_MS)));
      };
      interruption.afterFirst(putsWaiting, dequeue);
      await offer(5);
      expect(await frame.queues.next(session(), PAGE, NOW_MS)).toEqual([]);
      await frame.commit();
      expect(dequeued.map((queued) => queued.type === 'publish' && queued.message.id)).toEqual([
        messageOf(4).id,
        messageOf(5).id,
      ]);
      expect((await offer(6)).packetId).toBe(0);
    });

    it('a message does not overtake one of its topic and frame that was left to the drain of a newer connection [MQTT-4.6.0-6]', async () => {
      const stores = service.make();
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'c', { attachment: { receiveMaximum: 1 } });
      await stores.subscriptions.put(session, [{ ...subscriptionTo('t'), qos: 1 }], 10);
      const frame = stores.forEvent();
      const offer = async (number: number) => {
        const [matched] = await frame.subscriptions.match(tenant, 't');
        const delivery = deliveryTo(matched?.subscribers[0]?.session ?? session, { copy: '' });
        await frame.queues.offer(messageOf(number), [delivery], ROOMY);
        return delivery.packetId;
      };
      expect(await offer(1)).toBe(1);
      // In another process the client is back, and acknowledges what was under way.
      const other = service.make();
      const back = await open(other, tenant, 'c', { connectionId: 'c:2', attachment: { receiveMaximum: 1 } });
      const dequeued = async () => payloadsOf(await other.queues.next(back.session, PAGE, NOW_MS));
      expect(await offer(2)).toBe(0);
      expect(await dequeued()).toEqual(['1']);
      expect(await other.queues.complete(back.session, 1, 'puback')).toBe('done');
      expect(await offer(3)).toBe(0);
      expect(await dequeued()).toEqual(['2']);
    });
  });

  describe('a write whose answer is lost', () => {
    /** Loses the answer of the next write. */
    const losing = () => {
      let isDue = false;
      const hooks: Hooks = {
        after: (operation) => {
          if (!isDue || !/Put|Update|Delete/.test(operation)) return;
          isDue = false;
          throw failure('TimeoutError');
        },
      };
      return {
        stores: service.make({ hooks }),
        lose: () => {
          isDue = true;
        },
      };
    };

    it.each([true, false])(
      'take-over finds its own write, and the connection it took over (Clean Start %s)',
      async (cleanStart) => {
        const { stores, lose } = losing();
        const tenant = unique('tenant');
        const first = await open(stores, tenant, 'c');
        lose();
        const second = await open(stores, tenant, 'c', { connectionId: 'c:2', cleanStart });
        expect(second.present).toBe(!cleanStart);
        expect(second.previous?.attachment?.connectionId).toBe('c:1');
        expect(second.previous?.session.incarnation).toBe(first.session.incarnation);
        expect((await stores.sessions.get(tenant, 'c'))?.session.incarnation).toBe(
          second.session.incarnation,
        );
      },
    );

    it.each([true, false])(
      'take-over has a session of its own where another CONNECT came in between (Clean Start %s) [MQTT-3.1.2-4]',
      async (cleanStart) => {
        const tenant = unique('tenant');
        const other = service.make();
        let between: SessionRef | undefined;
        let previous: SessionRef | undefined;
        const hooks = {
          after: async (operation: string) => {
            if (between !== undefined || operation !== 'UpdateItem') return;
            const opened = await open(other, tenant, 'c', { connectionId: 'c:2', cleanStart });
            between = opened.session;
            previous = opened.previous?.session;
            throw failure('TimeoutError');
          },
        };
        const stores = service.make({ hooks, random: () => 0.99 });
        const opened = await open(stores, tenant, 'c', { connectionId: 'c:1', cleanStart: true });
        expect(opened).toMatchObject({ present: false, previous: { attachment: { connectionId: 'c:2' } } });
        // This CONNECT's session is neither the other CONNECT's nor the one that the other discarded.
        expect([between?.incarnation, previous?.incarnation]).not.toContain(opened.session.incarnation);
      },
    );

    const WILL = { topic: 'w', payload: Buffer.from('x'), qos: 1 as const, retain: false, properties: {} };
    const openWith = async (stores: Stores, tenant: string, connectionId: string, will?: typeof WILL) =>
      openedOf(
        await stores.sessions.open({
          tenant,
          clientId: 'c',
          cleanStart: true,
          expirySeconds: 0,
          attachment: attachmentOf(connectionId),
          identity: { tenant, name: 'somebody' },
          bindingRank: 0,
          will,
          nowMs: NOW_MS,
          isWillOwed: () => true,
        }),
      );

    it('the end of a session does nothing when its client is back and goes on with it', async () => {
      const tenant = unique('tenant');
      const other = service.make();
      const begun = await openWith(other, tenant, '1', WILL);
      const due = { atMs: NOW_MS, isWithdrawnByReturn: false };
      const { session } = begun;
      await other.sessions.detach({
        session,
        connectionId: '1',
        expirySeconds: 60,
        nowMs: NOW_MS,
        will: due,
      });
      await other.sessions.beginWill(session, '1', 'm', NOW_MS);
      let isBack = false;
      const hooks = {
        before: async (operation: string) => {
          if (isBack || operation !== 'UpdateItem') return;
          isBack = true;
          expect((await open(other, tenant, 'c', { connectionId: '2' })).present).toBe(true);
          throw failure('TimeoutError');
        },
      };
      expect(await service.make({ hooks }).sessions.remove(session)).toBe(false);
      expect(isBack).toBe(true);
    });

    it('a will is begun, and is not taken for a repeat; then it is done with', async () => {
      const { stores, lose } = losing();
      const { session } = await openWith(stores, unique('tenant'), '1', WILL);
      const due = { atMs: NOW_MS, isWithdrawnByReturn: false };
      const left = { session, connectionId: '1', expirySeconds: 0, nowMs: NOW_MS, will: due };
      lose();
      expect(await stores.sessions.detach(left)).toMatchObject({ will: { topic: 'w' }, willDue: due });
      lose();
      expect(await stores.sessions.beginWill(session, '1', 'm', NOW_MS)).toMatchObject({
        state: 'begun',
        messageId: 'm',
        isRepeat: false,
      });
      lose();
      await stores.sessions.doneWill(session, '1');
      expect(await service.make().sessions.beginWill(session, '1', 'n', NOW_MS)).toEqual({ state: 'none' });
    });

    it('a will that was taken over is owed, begun and done with', async () => {
      const { stores, lose } = losing();
      const tenant = unique('tenant');
      await openWith(stores, tenant, '1', WILL);
      // The first write is a guess that no will stands there, and fails: the next has its effect, and no answer.
      let writes = 0;
      const hooks: Hooks = {
        after: (operation) => {
          if (operation === 'UpdateItem' && ++writes === 1) throw failure('TimeoutError');
        },
      };
      const { session, owedWillOf } = await openWith(service.make({ hooks }), tenant, '2');
      expect(writes).toBe(1);
      expect(owedWillOf).toBe('1');
      lose();
      expect(await stores.sessions.beginWill(session, '1', 'm', NOW_MS)).toMatchObject({ isRepeat: false });
      lose();
      await stores.sessions.doneWill(session, '1');
      expect(await stores.sessions.beginWill(session, '1', 'n', NOW_MS)).toEqual({ state: 'none' });
    });

    it('a message that begins to wait is dequeued by the next acknowledgement', async () => {
      const { stores, lose } = losing();
      const { session } = await open(stores, unique('tenant'), 'c', { attachment: { receiveMaximum: 1 } });
      const deliveries = [deliveryTo({ ...session }), deliveryTo({ ...session })];
      for (const [index, delivery] of deliveries.entries()) {
        // Of the second: that it stands in the log.
        if (index === 1) lose();
        await stores.queues.offer(messageOf(index), [delivery], ROOMY);
      }
      expect(deliveries.map(({ packetId }) => packetId)).toEqual([1, 0]);
      expect(await stores.queues.complete(session, 1, 'puback')).toBe('done');
      expect(payloadsOf(await stores.queues.next(session, PAGE, NOW_MS))).toEqual(['1']);
    });

    it('a message that waited is dequeued, once', async () => {
      const { stores, lose } = losing();
      const { session } = await open(stores, unique('tenant'), 'c');
      const delivery = deliveryTo({ ...session });
      await stores.queues.offer(messageOf(1), [delivery], ROOMY, new Set([delivery]));
      expect(delivery.packetId).toBe(0);
      // That it has its packet id.
      lose();
      const [queued] = await stores.queues.next(session, PAGE, NOW_MS);
      expect(queued).toMatchObject({ type: 'publish', message: { id: messageOf(1).id } });
      expect(await stores.queues.next(session, PAGE, NOW_MS)).toEqual([]);
      expect(await stores.queues.unacknowledged(session)).toHaveLength(1);
    });

    it('a subscription is new, a detached connection detached, an acknowledged message done', async () => {
      const { stores, lose } = losing();
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'c');
      await stores.subscriptions.put(session, [subscriptionTo('warm')], 10);
      lose();
      expect(await stores.subscriptions.put(session, [subscriptionTo('a')], 10)).toEqual(['added']);
      const delivery = deliveryTo(session);
      lose();
      await stores.queues.offer(messageOf(1), [delivery], ROOMY);
      expect(delivery.packetId).toBeGreaterThan(0);
      lose();
      expect(await stores.queues.complete(session, delivery.packetId, 'puback')).toBe('done');
      lose();
      expect(await stores.received.begin(session, 1, 'id', 5)).toMatchObject({ state: 'new' });
      lose();
      expect(await detach(stores, session, 'c:1')).toBeDefined();
      lose();
      expect(await stores.sessions.remove(session)).toBe(true);
    });
  });
});

import { openedOf } from '@apus/broker/samples';
import type { Will } from '@apus/mqtt';
import { describe, expect, it } from 'vitest';
import {
  attachmentOf,
  deliveryTo,
  detach,
  messageOf,
  open,
  ROOMY,
  subscriptionTo,
  unique,
} from '../support/client.ts';
import { isRecordWrite } from '../support/hooks.ts';
import { failure, type Hooks, NOW_MS, withService } from '../support/stores.ts';

await withService((service) => {
  describe('a write whose answer is lost is made again, and', () => {
    /** A process that loses the first answer to such a write. */
    const losing = (operation: string, expression = '') => {
      let isDue = true;
      const after: Hooks['after'] = (each, input) => {
        const written = 'UpdateExpression' in input ? String(input.UpdateExpression) : '';
        if (!isDue || each !== operation || !written.includes(expression)) return;
        isDue = false;
        throw failure('TimeoutError');
      };
      return { stores: service.make({ hooks: { after } }), hasLost: () => !isDue };
    };

    it('a session that was in rooms as far as was read is removed', async () => {
      const { stores, hasLost } = losing('UpdateItem', 'SET i = :none');
      const { session } = await open(stores, unique('tenant'), 'c');
      expect(await detach(stores, session, 'c:1')).toBeDefined();
      expect(await stores.sessions.remove(session, 'c:1', true)).toBe(true);
      expect(hasLost()).toBe(true);
      expect(await stores.sessions.get(session.tenant, 'c')).toBeUndefined();
    });

    it.each([
      ['PutItem', ''],
      ['UpdateItem', 'ADD o'],
    ])(
      'a subscription beyond those in the list is new, and counted once (%s %s)',
      async (operation, expression) => {
        const stores = service.make();
        const { session } = await open(stores, unique('tenant'), 'c');
        const put = async (from: typeof stores, ...filters: string[]) =>
          await from.subscriptions.put(
            session,
            filters.map((filter) => subscriptionTo(filter)),
            18,
          );
        await put(stores, ...Array.from({ length: 16 }, (_, index) => `f/${index}`));
        const { stores: loser, hasLost } = losing(operation, expression);
        expect(await put(loser, 'f/16')).toEqual(['added']);
        expect(hasLost()).toBe(true);
        expect(await put(stores, 'f/16')).toEqual(['replaced']);
        expect(await put(stores, 'f/17')).toEqual(['added']);
        expect(await put(stores, 'f/18')).toEqual(['over-limit']);
      },
    );

    it('a take-over reports the will that it has withdrawn from the former connection', async () => {
      const tenant = unique('tenant');
      const will: Will = { topic: 'w', payload: Buffer.from('x'), qos: 1, retain: false, properties: {} };
      const request = (connectionId: string) => ({
        tenant,
        clientId: 'c',
        cleanStart: true,
        expirySeconds: 0,
        attachment: attachmentOf(connectionId),
        identity: { tenant, name: '' },
        bindingRank: 0 as const,
        will,
        nowMs: NOW_MS,
        isWillOwed: () => false,
      });
      await service.make().sessions.open(request('1'));
      // The first write is a guess that no will stands there, and fails: the next has its effect, and no answer.
      const { stores, hasLost } = losing('UpdateItem');
      const { previous, owedWillOf } = openedOf(await stores.sessions.open(request('2')));
      expect(hasLost()).toBe(true);
      expect(previous?.will).toMatchObject({ topic: 'w' });
      expect(owedWillOf).toBeUndefined();
    });

    it('a message that has left a queue is counted once', async () => {
      const { stores, hasLost } = losing('UpdateItem', 'ADD rn');
      const { session } = await open(stores, unique('tenant'), 'c');
      await detach(stores, session, 'c:1');
      const limits = { ...ROOMY, queueLengthMax: 3 };
      for (const number of [1, 2, 3, 4, 5]) {
        await stores.queues.offer(
          messageOf(number),
          [deliveryTo({ ...session, attachment: undefined })],
          limits,
        );
      }
      expect(hasLost()).toBe(true);
      expect(await stores.queues.length(session)).toBe(3);
    });
  });

  describe('an acknowledgement whose answer is lost', () => {
    /** A QoS 2 message whose PUBREC has come, and what happens between the effect of PUBCOMP and the loss of its answer. */
    const pubcomp = async (meanwhile: (offer: (number: number) => Promise<number>) => Promise<unknown>) => {
      const stores = service.make();
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'c', { attachment: { receiveMaximum: 1 } });
      const offer = async (number: number) => {
        const delivery = deliveryTo({ ...session }, { qos: 2 });
        await stores.queues.offer(messageOf(number, { qos: 2 }), [delivery], ROOMY);
        return delivery.packetId;
      };
      const packetId = await offer(1);
      expect(await stores.queues.release(session, packetId)).toBe('done');
      let hasLost = false;
      const after: Hooks['after'] = async (operation, input) => {
        if (hasLost || !isRecordWrite(operation, input)) return;
        hasLost = true;
        await meanwhile(offer);
        throw failure('TimeoutError');
      };
      const frame = service.make({ hooks: { after } }).forEvent({ connectionId: 'c:1' });
      expect(await frame.queues.complete(session, packetId, 'pubcomp')).toBe('done');
      await frame.commit();
      expect(hasLost).toBe(true);
      expect(await stores.queues.complete(session, packetId, 'pubcomp')).toBe('unknown');
      return { stores, session, offer };
    };

    it('is done where no other write came', async () => {
      const { offer } = await pubcomp(async () => {});
      expect(await offer(2)).toBeGreaterThan(0);
    });

    it('leaves alone the message that has taken its place by then', async () => {
      let packetId = 0;
      const { stores, session, offer } = await pubcomp(async (offerMeanwhile) => {
        packetId = await offerMeanwhile(2);
      });
      expect(packetId).toBeGreaterThan(0);
      expect(await offer(3)).toBe(0);
      expect(await stores.queues.release(session, packetId)).toBe('done');
      expect(await stores.queues.complete(session, packetId, 'pubcomp')).toBe('done');
    });
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import type { Message } from '../src/index.ts';
import { QueueReceiver } from './queue-receiver.ts';
import { deliveryTo, type MakeStores, ROOMY } from './support.ts';

/** A fan-out that is repeated under the same message id: at QoS 2 its copies are taken once. */
export function queueRepeatContract(makeStores: MakeStores): void {
  describe('an offer at QoS 2 that is repeated', () => {
    it('after its message was completed and the packet id used again is not sent [MQTT-4.3.3-2]', async () => {
      const receiver = await QueueReceiver.make(makeStores, 1);
      const [first, second] = [await receiver.message('a'), await receiver.message('b')];
      const { packetId } = await receiver.offer(first);
      await receiver.finish();
      expect((await receiver.offer(second)).packetId).toBeGreaterThan(0);
      expect((await receiver.offer(first)).packetId).toBe(0);
      await receiver.finishAll();
      expect((await receiver.offer(first)).packetId).toBe(0);
      await receiver.finishAll();
      expect(packetId).toBeGreaterThan(0);
      expect([first, second].map(({ id }) => receiver.count(id))).toEqual([1, 1]);
    });

    it('after it was dequeued is not sent, under any packet id', async () => {
      const receiver = await QueueReceiver.make(makeStores, 1);
      const [first, second] = [await receiver.message('a'), await receiver.message('b')];
      await receiver.offer(first);
      expect((await receiver.offer(second)).packetId).toBe(0);
      await receiver.finish();
      await receiver.dequeue();
      expect(receiver.count(second.id)).toBe(1);
      await receiver.offer(second);
      await receiver.finish();
      expect((await receiver.offer(second)).packetId).toBe(0);
      await receiver.finishAll();
      expect(receiver.count(second.id)).toBe(1);
    });

    it('while it waits lets it wait once', async () => {
      const receiver = await QueueReceiver.make(makeStores);
      await receiver.client.lose();
      const message = await receiver.message('a');
      for (let times = 0; times < 3; times += 1) expect((await receiver.offer(message)).packetId).toBe(0);
      expect(await receiver.client.length()).toBe(1);
      await receiver.client.resume();
      await receiver.finishAll();
      expect(receiver.count(message.id)).toBe(1);
    });

    it('drops no other message while the queue is full', async () => {
      const receiver = await QueueReceiver.make(makeStores);
      await receiver.client.lose();
      const limits = { ...ROOMY, queueLengthMax: 2 };
      const [first, second] = [await receiver.message('a'), await receiver.message('b')];
      for (const message of [first, second, second, first]) await receiver.offer(message, { limits });
      await receiver.client.resume();
      await receiver.finishAll();
      expect([first, second].map(({ id }) => receiver.count(id))).toEqual([1, 1]);
    });

    it('while it is sent and not answered is at most sent again under its packet id, with DUP [MQTT-3.3.1-1]', async () => {
      const receiver = await QueueReceiver.make(makeStores);
      const message = await receiver.message('a');
      const first = await receiver.offer(message);
      expect(first.dup).toBe(false);
      const again = await receiver.offer(message);
      if (again.packetId !== 0) expect(again).toMatchObject({ packetId: first.packetId, dup: true });
      await receiver.finishAll();
      expect(receiver.count(message.id)).toBe(1);
    });

    it('after PUBREC is not sent [MQTT-4.3.3-6]', async () => {
      const receiver = await QueueReceiver.make(makeStores);
      const message = await receiver.message('a');
      const { packetId } = await receiver.offer(message);
      await receiver.client.release(packetId);
      expect((await receiver.offer(message)).packetId).toBe(0);
      await receiver.finishAll();
      expect(receiver.count(message.id)).toBe(1);
    });

    it.each([true, false])(
      'at another connection is the message that was sent on the first (which arrived: %s)',
      async (arrives) => {
        const receiver = await QueueReceiver.make(makeStores, 5);
        const message = await receiver.message('a');
        const { packetId } = await receiver.offer(message, { arrives });
        await receiver.client.lose();
        expect((await receiver.offer(message)).packetId).toBe(0);
        await receiver.client.resume(3);
        const again = await receiver.offer(message);
        if (again.packetId !== 0) expect(again.packetId).toBe(packetId);
        await receiver.finishAll();
        expect((await receiver.offer(message)).packetId).toBe(0);
        await receiver.finishAll();
        expect(receiver.count(message.id)).toBe(1);
      },
    );

    it('takes each copy of a session once', async () => {
      const receiver = await QueueReceiver.make(makeStores);
      const message = await receiver.message('a');
      const session = await receiver.client.session();
      const { queues } = receiver.client.stores;
      const copies = async () => {
        const deliveries = ['x/+', 'x/#'].map((copy) => deliveryTo(session, { qos: 2, copy }));
        await queues.offer(message, deliveries, ROOMY);
        for (const { packetId } of deliveries) if (packetId !== 0) receiver.receive(message.id, packetId);
      };
      await copies();
      expect(receiver.count(message.id)).toBe(2);
      await copies();
      await receiver.finishAll();
      await copies();
      await receiver.finishAll();
      expect(receiver.count(message.id)).toBe(2);
    });

    it('for a share group comes to one member, whichever it chooses the second time', async () => {
      const one = await QueueReceiver.make(makeStores);
      const other = await QueueReceiver.beside(one);
      const message = await one.message('a');
      const share = { shareGroup: 'g', topicFilter: 'a/+' };
      await one.offer(message, { share });
      const again = await other.offer(message, { share, arrives: false });
      if (again.packetId !== 0) expect(again.session.clientId).toBe(one.client.clientId);
      for (const receiver of [one, other]) await receiver.finishAll();
      expect((await other.offer(message, { share, arrives: false })).packetId).toBe(0);
      for (const receiver of [one, other]) await receiver.finishAll();
      expect([one, other].map((receiver) => receiver.count(message.id))).toEqual([1, 0]);
    });

    it('comes once, for any events before, between and beside the repetitions', async () => {
      const stores = await makeStores();
      await fc.assert(
        fc.asyncProperty(receiveMaximum, fc.array(step, { maxLength: 40 }), async (first, steps) => {
          const receiver = await QueueReceiver.make(() => stores, first);
          const messages: Message[] = [];
          for (const name of ['a', 'b', 'c', 'd', 'e']) messages.push(await receiver.message(name));
          const offered = new Set<Message>();
          for (const each of steps) await take(receiver, messages, offered, each);
          await receiver.client.resume();
          await receiver.finishAll();
          expect(messages.map(({ id }) => receiver.count(id))).toEqual(
            messages.map((message) => (offered.has(message) ? 1 : 0)),
          );
        }),
        { numRuns: runs(40) },
      );
    }, 600_000);
  });
}

type Step =
  | { do: 'offer'; which: readonly number[]; arrives: boolean; dequeues: boolean }
  | { do: 'dequeue' }
  | { do: 'finish'; nth: number }
  | { do: 'lose' }
  | { do: 'resume'; receiveMaximum: number };

const receiveMaximum = fc.integer({ min: 1, max: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('offer' as const),
      /** At the same time; the same message perhaps several times. */
      which: fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 3 }),
      arrives: fc.boolean(),
      dequeues: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('dequeue' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('finish' as const), nth: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('resume' as const), receiveMaximum }) },
);

async function take(
  receiver: QueueReceiver,
  messages: readonly Message[],
  offered: Set<Message>,
  each: Step,
): Promise<void> {
  if (each.do === 'dequeue') await receiver.dequeue();
  else if (each.do === 'finish') await receiver.finish(each.nth);
  else if (each.do === 'lose') await receiver.client.lose();
  else if (each.do === 'resume') await receiver.client.resume(each.receiveMaximum);
  else {
    const { which, arrives, dequeues } = each;
    const some = which.flatMap((index) => messages[index] ?? []);
    for (const message of some) offered.add(message);
    const offers = some.map((message) => receiver.offer(message, { arrives }));
    await Promise.all([...offers, ...(dequeues ? [receiver.dequeue()] : [])]);
  }
}

import type { Message, SessionRef } from '@apus/broker';
import { QueueReceiver } from '@apus/broker/contract';
import { createDynamoDb } from '@apus/emulated-aws';
import { createDynamoStores, type DynamoStores, defineTable } from '@apus/store-dynamodb';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { deliveryTo, messageOf, open, PAGE, ROOMY, unique } from '../support/client.ts';
import { FakeClock, failure, type Hooks, NOW_MS, withService } from '../support/stores.ts';

const KILLED = 'the environment was killed';

/** Hooks of a process that dies at its nth call, before or after its effect. */
function dying(nth: number, when: 'before' | 'after'): { hooks: Hooks; hasDied: () => boolean } {
  let calls = 0;
  let isDead = false;
  const die = () => {
    if (isDead || calls === nth) {
      isDead = true;
      throw new Error(KILLED);
    }
  };
  return {
    hooks: {
      before: () => {
        calls += 1;
        if (isDead || when === 'before') die();
      },
      after: () => {
        if (isDead || when === 'after') die();
      },
    },
    hasDied: () => isDead,
  };
}

async function unlessKilled<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Error && error.message === KILLED) return undefined;
    throw error;
  }
}

/** A fan-out to the receiver by some process; what it lets go at once arrives. */
async function fanOut(stores: DynamoStores, receiver: QueueReceiver, message: Message, session: SessionRef) {
  const delivery = deliveryTo({ ...session }, { qos: 2, copy: '' });
  await stores.queues.offer(message, [delivery], ROOMY);
  if (delivery.packetId !== 0) receiver.receive(message.id, delivery.packetId);
}

interface Scene {
  readonly what: string;
  /** Before the fan-out. */
  before(receiver: QueueReceiver): Promise<unknown>;
  /** Between the match that found the session and the fan-out. */
  between?(receiver: QueueReceiver): Promise<unknown>;
}

const nothing = async () => {};
const fill = async (receiver: QueueReceiver) => await receiver.offer(await receiver.message('first'));

const SCENES: readonly Scene[] = [
  { what: 'online', before: nothing },
  { what: 'with a full window', before: fill },
  { what: 'offline', before: async ({ client }) => await client.lose() },
  {
    what: 'draining',
    before: async (receiver) => {
      await receiver.client.lose();
      await fill(receiver);
      await receiver.client.resume(1);
    },
  },
  { what: 'taken over meanwhile', before: nothing, between: async ({ client }) => await client.resume(1) },
  {
    what: 'taken over and drained meanwhile',
    before: nothing,
    between: async (receiver) => {
      await receiver.client.resume(1);
      await receiver.dequeue();
    },
  },
];

await withService((service) => {
  describe('a copy at QoS 2 comes once', () => {
    for (const { what, before, between = nothing } of SCENES) {
      it.each(['before', 'after'] as const)(
        `when its fan-out is killed %s any of its calls and repeated, to a session that is ${what}`,
        async (when) => {
          for (let nth = 1; ; nth += 1) {
            const receiver = await QueueReceiver.make(() => service.make(), 1);
            await before(receiver);
            const message = await receiver.message('a');
            const session = await receiver.client.session();
            await between(receiver);
            const { hooks, hasDied } = dying(nth, when);
            await unlessKilled(fanOut(service.make({ hooks }), receiver, message, session));
            await fanOut(service.make(), receiver, message, await receiver.client.session());
            await receiver.dequeue();
            await receiver.finish();
            await fanOut(service.make(), receiver, message, await receiver.client.session());
            await receiver.client.resume(2);
            await receiver.finishAll();
            expect(receiver.count(message.id), `killed ${when} call ${nth}`).toBe(1);
            if (!hasDied()) return;
          }
        },
        120_000,
      );
    }

    it.each(['before', 'after'] as const)(
      'when it is dequeued by a process that is killed %s any of its calls',
      async (when) => {
        for (let nth = 1; ; nth += 1) {
          const receiver = await QueueReceiver.make(() => service.make(), 2);
          await receiver.client.lose();
          const messages = [
            await receiver.message('a'),
            await receiver.message('b'),
            await receiver.message('c'),
          ];
          for (const message of messages) await receiver.offer(message);
          const session = await receiver.client.resume(2);
          const { hooks, hasDied } = dying(nth, when);
          const { queues } = service.make({ hooks });
          // The process dies before it sends the messages that it dequeued.
          await unlessKilled(Promise.resolve(queues.next(session, PAGE, NOW_MS)));
          for (const message of messages) await receiver.offer(message);
          await receiver.client.resume(2);
          for (const message of messages) await receiver.offer(message);
          await receiver.finishAll();
          expect(
            messages.map(({ id }) => receiver.count(id)),
            `call ${nth}`,
          ).toEqual([1, 1, 1]);
          if (!hasDied()) return;
        }
      },
      120_000,
    );

    it('when the answer to any call is lost, and no place in the window is left taken', async () => {
      for (let nth = 1; ; nth += 1) {
        const receiver = await QueueReceiver.make(() => service.make(), 1);
        const message = await receiver.message('a');
        let calls = 0;
        const hooks: Hooks = {
          after: () => {
            calls += 1;
            if (calls === nth) throw failure('TimeoutError');
          },
        };
        await fanOut(service.make({ hooks }), receiver, message, await receiver.client.session());
        expect(receiver.count(message.id)).toBe(1);
        await receiver.finish();
        await fanOut(service.make({ hooks }), receiver, message, await receiver.client.session());
        await receiver.finishAll();
        expect(receiver.count(message.id), `lost call ${nth}`).toBe(1);
        expect((await receiver.offer(await receiver.message('b'))).packetId).toBeGreaterThan(0);
        if (calls < nth) return;
      }
    }, 120_000);

    it('for a share group, until its deduplication record is older than any repetition, whatever TTL does', async () => {
      const fakeClock = new FakeClock();
      const stores = service.make({ fakeClock, repeatSecondsMax: 100 });
      const { session } = await open(stores, unique('tenant'), 'c');
      const offer = async () => {
        const delivery = deliveryTo(
          { ...session },
          { qos: 2, copy: '', share: { shareGroup: 'g', topicFilter: 'a' } },
        );
        await stores.queues.offer(messageOf(1, { qos: 2 }), [delivery], ROOMY);
        return delivery.packetId;
      };
      const packetId = await offer();
      await stores.queues.release(session, packetId);
      await stores.queues.complete(session, packetId, 'pubcomp');
      fakeClock.nowMs += 99_000;
      expect(await offer()).toBe(0);
      fakeClock.nowMs += 1_000;
      expect(await offer()).toBeGreaterThan(0);
    });

    it('and a retained message as often as a client subscribes', async () => {
      const receiver = await QueueReceiver.make(() => service.make());
      const message = await receiver.message('retained');
      const session = await receiver.client.session();
      for (let times = 0; times < 2; times += 1) {
        const delivery = deliveryTo({ ...session }, { qos: 2, retain: true });
        await receiver.client.stores.queues.offer(message, [delivery], ROOMY);
        receiver.receive(message.id, delivery.packetId);
      }
      expect(receiver.count(message.id)).toBe(2);
    });

    it('and again where an ended session has passed it to its share group', async () => {
      const one = await QueueReceiver.make(() => service.make());
      const other = await QueueReceiver.beside(one);
      const message = await one.message('a');
      const share = { shareGroup: 'g', topicFilter: 'a/+' };
      const left = await one.client.lose();
      await one.offer(message, { share });
      await one.client.stores.sessions.remove(left);
      // No other process passes it on, and a repetition of the fan-out does not.
      expect((await other.offer(message, { share })).packetId).toBe(0);
      const passedOn = { share, copy: left.incarnation };
      expect((await other.offer(message, passedOn)).packetId).toBeGreaterThan(0);
      await other.finishAll();
      expect((await other.offer(message, passedOn)).packetId).toBe(0);
      expect(other.count(message.id)).toBe(1);
    });
  });
});

describe('a copy at QoS 2, on a DynamoDB whose calls overtake each other and conflict', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'comes once from fan-outs that run beside each other, and beside drains (seed %i)',
    async (seed) => {
      const dynamoDb = createDynamoDb({
        seed,
        faults: { shuffle: 0.7, conflict: 0.1, throttle: 0.03, failsAfterwards: 0.03, answerLost: 0.03 },
      });
      const client = new DynamoDBClient({ ...dynamoDb.clientConfig(), maxAttempts: 1 });
      await client.send(new CreateTableCommand(defineTable('apus')));
      const { sleep, now } = new FakeClock();
      const make = () => createDynamoStores({ client, tableName: 'apus', clock: { now }, sleep });
      const receiver = await QueueReceiver.make(make, 2);
      const messages: Message[] = [];
      for (let number = 0; number < 8; number += 1) messages.push(await receiver.message(`${number}`));
      for (let round = 0; round < 4; round += 1) {
        const session = await receiver.client.session();
        const some = messages.slice(round * 2, round * 2 + 4);
        const each = some.flatMap((message) => [1, 2].map(() => fanOut(make(), receiver, message, session)));
        await Promise.all([
          ...each,
          receiver.dequeue(),
          round % 2 === 1 ? receiver.client.resume(2) : undefined,
        ]);
        await receiver.finish();
      }
      await receiver.client.resume(2);
      await receiver.finishAll();
      expect(messages.map(({ id }) => receiver.count(id))).toEqual(messages.map(() => 1));
      expect(dynamoDb.counters.snapshot().events.conflict).toBeGreaterThan(0);
    },
    60_000,
  );
});

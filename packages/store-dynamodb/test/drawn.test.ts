import type { Delivery, Queued, SessionRef } from '@apus/broker';
import type { DynamoStores } from '@apus/store-dynamodb';
import {
  type AttributeValue,
  DeleteItemCommand,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { drawnListOf } from '../src/drawn-list.ts';
import { deliveryTo, detach, messageOf, open, PAGE, ROOMY, unique } from './support/client.ts';
import { heldUp, isListWrite, isPutInflight, once } from './support/hooks.ts';
import { failure, type Hooks, NOW_MS, withService } from './support/stores.ts';

const KILLED = 'the environment was killed';

const idsOf = (page: readonly Queued[]) =>
  page.map((each) => (each.type === 'publish' ? each.message.id : 'pubrel'));
const deliveriesOf = (page: readonly Queued[]): Delivery[] =>
  page.flatMap((each) => (each.type === 'publish' ? [each.delivery] : []));
const id = (number: number) => messageOf(number).id;

await withService((service) => {
  const next = async (stores: DynamoStores, session: SessionRef, limit: object = PAGE) =>
    await stores.queues.next({ ...session }, limit as typeof PAGE, NOW_MS);
  const offer = async (stores: DynamoStores, session: SessionRef, number: number, qos: 1 | 2 = 1) => {
    const delivery = deliveryTo({ ...session }, { qos });
    await stores.queues.offer(messageOf(number, { qos }), [delivery], ROOMY);
    return delivery;
  };
  /** A copy with a name: offered again it is the same one. */
  const fanOut = async (stores: DynamoStores, session: SessionRef, number: number) => {
    const delivery = deliveryTo({ ...session }, { copy: '' });
    await stores.queues.offer(messageOf(number), [delivery], ROOMY);
    return delivery.packetId;
  };
  /** A client that is away while messages come, and is back. */
  const back = async (numbers: readonly number[], receiveMaximum = 10) => {
    const stores = service.make();
    const tenant = unique('tenant');
    const { session } = await open(stores, tenant, 'c', { attachment: { receiveMaximum } });
    const away = (await detach(stores, session, 'c:1'))?.session ?? session;
    for (const number of numbers) await offer(stores, away, number);
    const connect = async (connectionId: string) =>
      (await open(stores, tenant, 'c', { connectionId, attachment: { receiveMaximum } })).session;
    return { stores, away, connect, session: await connect('c:2') };
  };
  const acknowledge = async (stores: DynamoStores, session: SessionRef, page: readonly Queued[]) => {
    for (const { packetId } of deliveriesOf(page))
      expect(await stores.queues.complete(session, packetId, 'puback')).toBe('done');
  };
  const itemsOf = async (session: SessionRef): Promise<Record<string, AttributeValue>[]> => {
    const { Items = [] } = await service.client.send(
      new QueryCommand({
        TableName: service.tableName,
        KeyConditionExpression: 'p = :p',
        ExpressionAttributeValues: {
          ':p': { S: ['I', session.tenant, session.incarnation, session.clientId].join('\0') },
        },
        ConsistentRead: true,
      }),
    );
    return Items;
  };
  /** All but a list of the drawn that names nothing. */
  const leftOf = async (session: SessionRef) =>
    (await itemsOf(session)).filter((item) => {
      const list = drawnListOf(item);
      return list === undefined || list.sent.length + list.unsent.length + list.moving.length > 0;
    });

  describe('messages that are drawn and stay where they wait', () => {
    it('are gone when they have been acknowledged, and the list names none of them', async () => {
      const { stores, session } = await back([1, 2, 3]);
      const page = await next(stores, session);
      expect(idsOf(page)).toEqual([id(1), id(2), id(3)]);
      await acknowledge(stores, session, page);
      expect(await next(stores, session)).toEqual([]);
      expect(await leftOf(session)).toEqual([]);
      expect((await offer(stores, session, 4)).packetId).toBeGreaterThan(0);
    });

    it('count towards the window on which they were sent, whatever else is sent there', async () => {
      const { stores, session } = await back([1, 2], 3);
      const page = await next(stores, session);
      expect(await next(stores, session)).toEqual([]);
      const third = await offer(service.make(), session, 3);
      expect(third.packetId).toBeGreaterThan(0);
      expect((await offer(service.make(), session, 4)).packetId).toBe(0);
      const ids = [...deliveriesOf(page), third].map(({ packetId }) => packetId);
      expect(new Set(ids).size).toBe(3);
      await acknowledge(stores, session, page.slice(0, 1));
      expect(idsOf(await next(stores, session))).toEqual([id(4)]);
    });

    it('are sent again on the next connection, in their order, with DUP and under their packet ids', async () => {
      const { stores, session, connect } = await back([1, 2, 3]);
      const before = await next(stores, session);
      await acknowledge(stores, session, before.slice(1, 2));
      const again = await connect('c:3');
      const page = await next(stores, again, { messages: 1, bytes: 1_000 });
      const rest = await next(stores, again);
      expect(idsOf([...page, ...rest])).toEqual([id(1), id(3)]);
      const sent = deliveriesOf([...page, ...rest]);
      expect(sent.map(({ dup }) => dup)).toEqual([true, true]);
      const known = deliveriesOf(before);
      expect(sent.map(({ packetId }) => packetId)).toEqual([known[0]?.packetId, known[2]?.packetId]);
    });

    it('are not given up to a full queue, nor counted in it', async () => {
      const { stores, session, connect } = await back([1, 2]);
      await next(stores, session);
      expect(await stores.queues.length(session)).toBe(0);
      const away = (await detach(stores, session, 'c:2'))?.session ?? session;
      const limits = { ...ROOMY, queueLengthMax: 1 };
      for (const number of [3, 4])
        await stores.queues.offer(messageOf(number), [deliveryTo({ ...away })], limits);
      const again = await connect('c:3');
      expect(idsOf(await next(stores, again))).toEqual([id(1), id(2), id(4)]);
    });

    it('say that they have been sent when their session is over', async () => {
      const { stores, session } = await back([1, 2]);
      const page = await next(stores, session, { messages: 1, bytes: 1_000 });
      const left = await service.make().queues.unacknowledged(session);
      expect(left.map(({ message, delivery }) => [message.id, delivery.packetId])).toEqual([
        [id(1), deliveriesOf(page)[0]?.packetId],
        [id(2), 0],
      ]);
      await stores.queues.clear(session);
      expect(await itemsOf(session)).toEqual([]);
    });

    it('are answered by PUBACK and nothing else', async () => {
      const { stores, session } = await back([1]);
      const [{ packetId } = { packetId: 0 }] = deliveriesOf(await next(stores, session));
      expect(await stores.queues.release(session, packetId)).toBe('out-of-place');
      expect(await stores.queues.complete(session, packetId, 'pubcomp')).toBe('out-of-place');
      expect(await stores.queues.complete(session, packetId, 'puback')).toBe('done');
      expect(await stores.queues.complete(session, packetId, 'puback')).toBe('unknown');
    });

    it('keep their order among messages at QoS 2', async () => {
      const { stores, away, connect } = await back([1]);
      const lost = (await detach(stores, away, 'c:2'))?.session ?? away;
      await offer(stores, lost, 2, 2);
      await offer(stores, lost, 3);
      const session = await connect('c:3');
      expect(idsOf(await next(stores, session))).toEqual([id(1), id(2), id(3)]);
      const again = await connect('c:4');
      expect(idsOf(await next(stores, again))).toEqual([id(1), id(2), id(3)]);
    });
  });

  describe('a QoS 1 message that is inflight and waits as well, as its fan-out was repeated', () => {
    it('is sent again under its packet id, in its place: nobody knows whether it was sent [MQTT-4.6.0-6]', async () => {
      const { stores, session } = await back([]);
      expect(await next(stores, session)).toEqual([]);
      const again = async (number: number) => await fanOut(service.make(), session, number);
      const second = await again(2);
      expect(second).toBeGreaterThan(0);
      const held = deliveryTo({ ...session });
      await stores.queues.offer(messageOf(1), [held], ROOMY, new Set([held]));
      expect([await again(2), await again(3)]).toEqual([0, 0]);
      const page = await next(stores, session);
      expect(idsOf(page)).toEqual([id(1), id(2), id(3)]);
      expect(deliveriesOf(page)[1]).toMatchObject({ packetId: second, dup: true });
      expect(await stores.queues.length(session)).toBe(0);
      await acknowledge(stores, session, page);
      expect(await next(stores, session)).toEqual([]);
      expect(await leftOf(session)).toEqual([]);
    });
  });

  describe('a QoS 1 message that was drawn and acknowledged, and joins the queue once more, as its fan-out was repeated', () => {
    const drawnTwice = async () => {
      const { stores, away, connect } = await back([]);
      const lost = (await detach(stores, away, 'c:2'))?.session ?? away;
      await fanOut(stores, lost, 1);
      await offer(stores, lost, 2);
      const session = await connect('c:3');
      // What a frame draws holds the queue back until it is acknowledged.
      stores.beginFrame();
      const page = await next(stores, session);
      stores.endFrame();
      expect(idsOf(page)).toEqual([id(1), id(2)]);
      await acknowledge(stores, session, page.slice(0, 1));
      await fanOut(stores, session, 1);
      return { stores, session, page };
    };

    it('is not taken for the one that was acknowledged: it is sent, and the queue is live again', async () => {
      const { stores, session, page } = await drawnTwice();
      await acknowledge(stores, session, page.slice(1));
      const again = await next(stores, session);
      expect(idsOf(again)).toEqual([id(1)]);
      await acknowledge(stores, session, again);
      expect(await next(stores, session)).toEqual([]);
      expect((await offer(stores, session, 3)).packetId).toBeGreaterThan(0);
    });

    it('is sent also where the one before had an item of its own, and was sent again on this connection', async () => {
      const { stores, session: first, connect } = await back([]);
      expect(await next(stores, first)).toEqual([]);
      expect(await fanOut(stores, first, 1)).toBeGreaterThan(0);
      await offer(stores, (await detach(stores, first, 'c:2'))?.session ?? first, 2);
      const session = await connect('c:3');
      stores.beginFrame();
      const page = await next(stores, session);
      stores.endFrame();
      expect(idsOf(page)).toEqual([id(1), id(2)]);
      await acknowledge(stores, session, page.slice(0, 1));
      expect(await fanOut(stores, session, 1)).toBe(0);
      await acknowledge(stores, session, page.slice(1));
      const again = await next(stores, session);
      expect(idsOf(again)).toEqual([id(1)]);
      await acknowledge(stores, session, again);
      expect(await next(stores, session)).toEqual([]);
      expect((await offer(stores, session, 3)).packetId).toBeGreaterThan(0);
    });

    it('is not deleted by a PUBACK of the one before that is late', async () => {
      const { stores, session, page } = await drawnTwice();
      const [{ packetId } = { packetId: 0 }] = deliveriesOf(page);
      expect(await stores.queues.complete(session, packetId, 'puback')).toBe('unknown');
      expect(await stores.queues.length(session)).toBe(1);
    });

    it('is one that waits when its session is over', async () => {
      const { stores, session } = await drawnTwice();
      const left = await stores.queues.unacknowledged(session);
      expect(left.map(({ message, delivery }) => [message.id, delivery.packetId > 0])).toEqual([
        [id(2), true],
        [id(1), false],
      ]);
    });
  });

  describe('a QoS 1 message that was to be sent again, and is acknowledged meanwhile', () => {
    it('is not sent under its packet id, which another has by then [MQTT-2.2.1-4]', async () => {
      const { stores, session } = await back([], 1);
      expect(await next(stores, session)).toEqual([]);
      expect(await fanOut(stores, session, 2)).toBe(1);
      const late = heldUp(isPutInflight);
      const other = fanOut(service.make({ hooks: late.hooks }), session, 4);
      await late.reached;
      const held = deliveryTo({ ...session });
      await stores.queues.offer(messageOf(3), [held], ROOMY, new Set([held]));
      expect(await fanOut(service.make(), session, 2)).toBe(0);
      const isMark = (operation: string, input: object) =>
        operation === 'UpdateItem' && JSON.stringify(input).includes('SET f');
      const hooks = once(isMark, async () => {
        expect(await stores.queues.complete(session, 1, 'puback')).toBe('done');
        late.release();
        expect(await other).toBe(1);
      });
      expect(idsOf(await next(service.make({ hooks }), session))).toEqual([]);
      expect(await stores.queues.complete(session, 1, 'puback')).toBe('done');
      expect(idsOf(await next(stores, session))).toEqual([id(3)]);
    });
  });

  describe('a drain', () => {
    it('of an old connection that writes the list after the new one draws nothing', async () => {
      const { session, connect } = await back([1, 2]);
      let drawn: readonly Queued[] = [];
      const hooks = once(isListWrite, async () => {
        drawn = await next(service.make(), await connect('c:3'));
      });
      expect(await next(service.make({ hooks }), session)).toEqual([]);
      expect(idsOf(drawn)).toEqual([id(1), id(2)]);
      expect(deliveriesOf(drawn).map(({ dup }) => dup)).toEqual([false, false]);
    });

    it('that has seen no list, and writes one when all has been drawn and acknowledged, draws nothing', async () => {
      const { stores, session } = await back([1, 2]);
      const hooks = once(isListWrite, async () => {
        const page = await next(stores, session);
        await acknowledge(stores, session, page);
        expect(await next(stores, session)).toEqual([]);
        expect(await leftOf(session)).toEqual([]);
      });
      expect(await next(service.make({ hooks }), session)).toEqual([]);
      expect(await leftOf(session)).toEqual([]);
    });

    it('that finds a message without its body does not delete another that has its packet id by then', async () => {
      const { stores, away } = await back([]);
      const lost = (await detach(stores, away, 'c:2'))?.session ?? away;
      const item = {
        p: { S: ['I', lost.tenant, lost.incarnation, lost.clientId].join('\0') },
        v: { N: '1' },
      };
      const put = async (messageId: string) => {
        const fields = { m: { S: messageId }, ix: { S: '' }, k: { S: '1' }, d: { S: '{}' }, bn: { N: '1' } };
        const Item = { ...item, ...fields, s: { S: 'sent\u000000001' }, c: { S: 'c:2' }, w: { N: '1' } };
        await service.client.send(new PutItemCommand({ TableName: service.tableName, Item }));
      };
      await put('old');
      const session = (await open(stores, lost.tenant, 'c', { connectionId: 'c:3' })).session;
      const hooks = once(
        (operation, input) => operation === 'DeleteItem' && JSON.stringify(input).includes('sent'),
        async () => await put('new'),
      );
      expect(await next(service.make({ hooks }), session)).toEqual([]);
      expect((await itemsOf(session)).map(({ m }) => m?.S)).toContain('new');
    });

    it('of a new connection that writes the list after the old one sends the same again, with DUP', async () => {
      const { session, connect } = await back([1, 2]);
      let drawn: Promise<readonly Queued[]> = Promise.resolve([]);
      let isWritten = () => {};
      // The old one has read before the new one is there, and writes before it.
      const hooks = once(isListWrite, async () => {
        const newest = await connect('c:3');
        await new Promise<void>((reached) => {
          const waiting = once(isListWrite, async () => {
            reached();
            await new Promise<void>((resolve) => {
              isWritten = resolve;
            });
          });
          drawn = next(service.make({ hooks: waiting }), newest);
        });
      });
      const old = await next(service.make({ hooks }), session);
      isWritten();
      expect(idsOf(old)).toEqual([id(1), id(2)]);
      const again = await drawn;
      expect(idsOf(again)).toEqual([id(1), id(2)]);
      expect(deliveriesOf(again)).toMatchObject(
        deliveriesOf(old).map(({ packetId }) => ({ packetId, dup: true })),
      );
    });

    it.each(['before', 'after'] as const)(
      'that dies %s any of its calls loses nothing: the next connection is sent all, in order',
      async (when) => {
        for (let nth = 1; ; nth += 1) {
          const { stores, session, connect } = await back([1, 2, 3]);
          let calls = 0;
          let isDead = false;
          const die = () => {
            if (!isDead && calls !== nth) return;
            isDead = true;
            throw new Error(KILLED);
          };
          const hooks: Hooks = {
            before: () => {
              calls += 1;
              if (isDead || when === 'before') die();
            },
            after: () => {
              if (when === 'after') die();
            },
          };
          const mortal = service.make({ hooks });
          try {
            await next(mortal, session, { messages: 2, bytes: 1_000 });
          } catch (error) {
            expect(String(error)).toContain(KILLED);
          }
          const again = await connect('c:3');
          const page = await next(stores, again);
          expect(idsOf(page), `call ${nth}`).toEqual([id(1), id(2), id(3)]);
          await acknowledge(stores, again, page);
          expect(await next(stores, again)).toEqual([]);
          expect(await leftOf(again), `call ${nth}`).toEqual([]);
          if (!isDead) return;
        }
      },
      60_000,
    );

    it('whose answers are lost draws each message once', async () => {
      for (let nth = 1; ; nth += 1) {
        const { session, stores } = await back([1, 2]);
        let calls = 0;
        const hooks: Hooks = {
          after: () => {
            calls += 1;
            if (calls === nth) throw failure('TimeoutError');
          },
        };
        const page = await next(service.make({ hooks }), session);
        expect(idsOf(page), `lost call ${nth}`).toEqual([id(1), id(2)]);
        expect(idsOf(await next(stores, session))).toEqual([]);
        if (calls < nth) return;
      }
    }, 60_000);
  });

  describe('a publisher that takes its message back', () => {
    /** Its message waits, the session went live meanwhile, and another one lets a second message wait. */
    const race = async (whenTaking: (stores: DynamoStores, session: SessionRef) => Promise<unknown>) => {
      const { stores, away, connect } = await back([]);
      const lost = (await detach(stores, away, 'c:2'))?.session ?? away;
      let session = lost;
      let hasAppended = false;
      let hasTaken = false;
      const hooks: Hooks = {
        before: async (operation, input) => {
          if (!hasAppended && operation === 'PutItem' && JSON.stringify(input).includes('wait')) {
            hasAppended = true;
            session = await connect('c:3');
            expect(await next(stores, session)).toEqual([]);
          }
          if (hasTaken || operation !== 'TransactWriteItems') return;
          hasTaken = true;
          const held = deliveryTo({ ...session });
          await stores.queues.offer(messageOf(2), [held], ROOMY, new Set([held]));
          await whenTaking(stores, session);
        },
      };
      const delivery = await offer(service.make({ hooks }), lost, 1);
      expect(hasTaken).toBe(true);
      return { delivery, stores, session };
    };

    it('leaves it to a drain that has drawn it', async () => {
      let drawn: readonly Queued[] = [];
      const { delivery } = await race(async (stores, session) => {
        drawn = await next(stores, session);
      });
      expect(idsOf(drawn)).toEqual([id(1), id(2)]);
      expect(delivery.packetId).toBe(0);
    });

    it('sends it itself when the drain that has read it has not drawn it yet', async () => {
      let drawing: Promise<readonly Queued[]> = Promise.resolve([]);
      let release = () => {};
      const { delivery } = await race(async (_stores, session) => {
        const isTaken = new Promise<void>((resolve) => {
          release = resolve;
        });
        await new Promise<void>((reached) => {
          const hooks = once(isListWrite, async () => {
            reached();
            await isTaken;
          });
          drawing = next(service.make({ hooks }), session);
        });
      });
      release();
      expect(delivery.packetId).toBeGreaterThan(0);
      expect(idsOf(await drawing)).toEqual([id(2)]);
    });
  });

  describe('what a frame has drawn, and whose reply has not left', () => {
    it('is not overtaken by a newer message, although the window has room: an acknowledgement says live', async () => {
      const { stores, session } = await back([1]);
      const plan = { connectionId: 'c:2', tenant: session.tenant, topicNames: [], looksAtEnd: true };
      await stores.beginFrame(plan);
      const page = await next(stores, session);
      expect(idsOf(page)).toEqual([id(1)]);
      expect(await next(stores, session)).toEqual([]);
      expect((await offer(service.make(), session, 2)).packetId).toBe(0);
      stores.endFrame();
      expect((await offer(service.make(), session, 3)).packetId).toBe(0);
      await stores.beginFrame(plan);
      await acknowledge(stores, session, page);
      expect(stores.takeOwedLook()).toBe(true);
      expect(idsOf(await next(stores, session))).toEqual([id(2), id(3)]);
      stores.endFrame();
    });
  });

  describe('what one frame has drawn, while another looks', () => {
    it('holds back what is newer until it has been acknowledged [MQTT-4.6.0-6]', async () => {
      const { stores, session } = await back([1, 2]);
      const plan = { connectionId: 'c:2', tenant: session.tenant, topicNames: [], looksAtEnd: true };
      await stores.beginFrame(plan);
      const page = await next(stores, session);
      // The acknowledgement of something older, in another process: nothing waits, and the page may not have left.
      const other = service.make();
      await other.beginFrame(plan);
      expect(await next(other, session)).toEqual([]);
      other.endFrame();
      stores.endFrame();
      expect((await offer(service.make(), session, 3)).packetId).toBe(0);
      await stores.beginFrame(plan);
      await acknowledge(stores, session, page);
      const more = await next(stores, session);
      expect(idsOf(more)).toEqual([id(3)]);
      stores.endFrame();
      await stores.beginFrame(plan);
      await acknowledge(stores, session, more);
      expect(await next(stores, session)).toEqual([]);
      stores.endFrame();
      expect((await offer(service.make(), session, 4)).packetId).toBeGreaterThan(0);
    });
  });

  describe('pages of frames that are handled at the same time', () => {
    const planOf = (session: SessionRef, isReplyWanted: boolean) => ({
      connectionId: 'c:2',
      tenant: session.tenant,
      topicNames: [],
      looksAtEnd: true,
      isReplyWanted,
    });
    /** A frame of PUBACK alone, in a process of its own: what it draws. */
    const pubacks = async (session: SessionRef, page: readonly Queued[], hooks: Hooks = {}) => {
      const stores = service.make({ hooks });
      await stores.beginFrame(planOf(session, false));
      await acknowledge(stores, session, page);
      const drawn = await next(stores, session);
      stores.endFrame();
      return drawn;
    };
    const fetch = async (session: SessionRef) => {
      const stores = service.make();
      await stores.beginFrame(planOf(session, true));
      const drawn = await next(stores, session);
      stores.endFrame();
      return drawn;
    };

    it('come one after another: acknowledgements draw nothing while a page is unacknowledged [MQTT-4.6.0-6]', async () => {
      const { session } = await back([1, 2, 3, 4, 5], 2);
      const page = await fetch(session);
      expect(idsOf(page)).toEqual([id(1), id(2)]);
      expect(await pubacks(session, page.slice(0, 1))).toEqual([]);
      const second = await pubacks(session, page.slice(1));
      expect(idsOf(second)).toEqual([id(3), id(4)]);
      expect(await pubacks(session, second.slice(0, 1))).toEqual([]);
      expect(idsOf(await pubacks(session, second.slice(1)))).toEqual([id(5)]);
    });

    it('follow each other in replies, and not what has left in pushes', async () => {
      const { stores, session } = await back([1, 2]);
      const page = await fetch(session);
      await offer(service.make(), session, 3);
      expect(idsOf(await fetch(session))).toEqual([id(3)]);
      await offer(service.make(), session, 4);
      const rest = await stores.queues.unacknowledged(session);
      expect(rest.map(({ message }) => message.id)).toEqual([id(1), id(2), id(3), id(4)]);
      await acknowledge(stores, session, page);
      const [third] = rest.filter(({ message }) => message.id === id(3));
      const pushed = await pubacks(session, third === undefined ? [] : [third]);
      expect(idsOf(pushed)).toEqual([id(4)]);
      await offer(service.make(), session, 5);
      expect(await fetch(session)).toEqual([]);
      expect(idsOf(await pubacks(session, pushed))).toEqual([id(5)]);
    });

    it.each(['waiting', 'to be sent again'])(
      'hold for messages at QoS 2 that are %s, one by one',
      async (which) => {
        const { stores, away, connect } = await back([]);
        const lost = (await detach(stores, away, 'c:2'))?.session ?? away;
        for (const number of [1, 2, 3]) await offer(stores, lost, number, 2);
        let session = await connect('c:2');
        if (which === 'to be sent again') {
          await next(stores, session);
          await detach(stores, session, 'c:2');
          session = await connect('c:2:again');
        }
        const isSecond = { seen: 0 };
        const hooks: Hooks = {
          before: async (operation) => {
            const isMove = operation === (which === 'waiting' ? 'TransactWriteItems' : 'UpdateItem');
            if (!isMove) return;
            isSecond.seen += 1;
            if (isSecond.seen === 2) {
              // Another frame meets this one in the middle of its page.
              expect(await pubacks(session, [])).toEqual([]);
            }
          },
        };
        expect(idsOf(await pubacks(session, [], hooks))).toEqual([id(1), id(2), id(3)]);
        expect(isSecond.seen).toBeGreaterThanOrEqual(2);
      },
    );

    it.each([1, 2] as const)('hold a worker back that finds the queue settling, at QoS %i', async (qos) => {
      const { away, connect } = await back([]);
      const lost = (await detach(service.make(), away, 'c:2'))?.session ?? away;
      for (const number of [1, 2]) await offer(service.make(), lost, number, qos);
      const session = await connect('c:2');
      // The first frame of the connection dies when it has written what it draws, and before that has left.
      const hooks: Hooks = {
        after: async (operation, input) => {
          if (isListWrite(operation, input)) throw new Error(KILLED);
        },
      };
      const dying = service.make({ hooks });
      await dying.beginFrame(planOf(session, true));
      await expect(next(dying, session)).rejects.toThrow(KILLED);
      // A worker handles no frame.
      expect((await offer(service.make(), session, 3, qos)).packetId).toBe(0);
      const again = await connect('c:3');
      expect(idsOf(await next(service.make(), again))).toEqual([id(1), id(2), id(3)]);
    });

    it('do not wait for a message that was given up: the queue goes on', async () => {
      const { stores, session } = await back([1]);
      await stores.beginFrame(planOf(session, true));
      const [{ packetId } = { packetId: 0 }] = deliveriesOf(await next(stores, session));
      // Too large for this client.
      expect(await stores.queues.complete(session, packetId)).toBe('done');
      expect(await next(stores, session)).toEqual([]);
      stores.endFrame();
      expect((await offer(service.make(), session, 2)).packetId).toBeGreaterThan(0);
    });
  });

  describe('acknowledgements of a frame that looks at its end', () => {
    it('do not look themselves, and say that a look is owed', async () => {
      const { stores, session } = await back([1, 2, 3], 2);
      const page = await next(stores, session);
      expect(idsOf(page)).toEqual([id(1), id(2)]);
      const plan = { connectionId: 'c:2', tenant: session.tenant, topicNames: [], looksAtEnd: true };
      await stores.beginFrame(plan);
      for (const { packetId } of deliveriesOf(page)) {
        expect(await stores.queues.complete(session, packetId, 'puback')).toBe('done');
        expect(await stores.queues.next(session, PAGE, NOW_MS)).toEqual([]);
      }
      expect(stores.takeOwedLook()).toBe(true);
      expect(stores.takeOwedLook()).toBe(false);
      expect(idsOf(await stores.queues.next(session, PAGE, NOW_MS))).toEqual([id(3)]);
      stores.endFrame();
    });

    it('owe none where nothing waits behind them', async () => {
      const stores = service.make();
      const { session } = await open(stores, unique('tenant'), 'c');
      const { packetId } = await offer(stores, session, 1);
      await stores.beginFrame({
        connectionId: 'c:1',
        tenant: session.tenant,
        topicNames: [],
        looksAtEnd: true,
      });
      expect(await stores.queues.complete(session, packetId, 'puback')).toBe('done');
      expect(stores.takeOwedLook()).toBe(false);
      stores.endFrame();
    });
  });

  describe('a queue that an earlier version has drawn', () => {
    it('is sent again from the items that it has left, and what it left in two places once', async () => {
      const { stores, session, connect } = await back([1, 2, 3]);
      const waiting = (await itemsOf(session)).filter((item) => item.s?.S?.startsWith('wait'));
      for (const [index, item] of waiting.slice(0, 2).entries()) {
        const { n: _n, cb: _cb, ...fields } = item;
        const sent = { ...fields, s: { S: `sent\0${String(index + 1).padStart(5, '0')}` } };
        const Item = { ...sent, c: { S: 'c:2' }, w: { N: '1' }, f: { N: '1' } };
        await service.client.send(new PutItemCommand({ TableName: service.tableName, Item }));
      }
      const { p = { S: '' }, s = { S: '' } } = waiting[0] ?? {};
      await service.client.send(new DeleteItemCommand({ TableName: service.tableName, Key: { p, s } }));
      const again = await connect('c:3');
      const page = await next(stores, again);
      expect(idsOf(page)).toEqual([id(1), id(2), id(3)]);
      expect(deliveriesOf(page).map(({ dup }) => dup)).toEqual([true, true, false]);
      expect(
        deliveriesOf(page)
          .map(({ packetId }) => packetId)
          .slice(0, 2),
      ).toEqual([1, 2]);
      await acknowledge(stores, again, page);
      expect(await next(stores, again)).toEqual([]);
      expect(await leftOf(again)).toEqual([]);
    });
  });
});

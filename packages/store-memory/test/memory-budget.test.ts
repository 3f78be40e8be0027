import { type OpenSession, retainedBytes } from '@apus/broker';
import {
  attachmentOf,
  deliveryTo,
  detachOf,
  messageId,
  messageOf,
  NOW_MS,
  openedOf,
  openOf,
  ROOMY,
  subscriptionTo,
  upTo,
} from '@apus/broker/samples';
import { createMemoryStores, MemoryBudget } from '@apus/store-memory';
import { describe, expect, it } from 'vitest';

const KILOBYTES = 1_000;
const WILL = {
  topic: 'w',
  payload: Buffer.alloc(60 * KILOBYTES),
  qos: 1,
  retain: false,
  properties: {},
} as const;

function storesWith(bytesMax?: number) {
  const memory = new MemoryBudget(bytesMax);
  const stores = createMemoryStores(memory);
  const open = (clientId: string, fields: Partial<OpenSession> = {}) =>
    openedOf(stores.sessions.open(openOf(clientId, fields))).session;
  return { memory, stores, open };
}

describe('the memory budget', () => {
  it('bounds the queues of a tenant by its plan, and those of one identity by half of that', () => {
    const budget = new MemoryBudget(undefined, 1_000, 800);
    const of = (tenant: string, queuedBytesMax?: number) => ({
      ...{ tenant, name: 'ada' },
      ...(queuedBytesMax !== undefined && { plan: { queuedBytesMax } }),
    });
    budget.planned(of('small', 600));
    budget.planned(of('large', 5_000));
    budget.planned(of('any', 0));
    const tenants = ['small', 'large', 'any', 'other'];
    expect(tenants.map((tenant) => budget.queuedBytesMax(of(tenant)))).toEqual([300, 800, 800, 800]);
    for (const tenant of tenants) budget.changeQueued(tenant, 600);
    expect(tenants.filter((tenant) => budget.isQueueFull(tenant))).toEqual(['small']);
    for (const tenant of tenants) budget.changeQueued(tenant, 10_000);
    expect(tenants.filter((tenant) => budget.isQueueFull(tenant))).toEqual(['small', 'large', 'other']);
    // An identity's own quota comes first; a plan without it takes the bound away.
    expect(budget.queuedBytesMax({ ...of('small'), quotas: { queuedBytesMax: 700 } })).toBe(700);
    budget.planned(of('small'));
    expect(budget.queuedBytesMax(of('small'))).toBe(800);
  });

  it('counts stored data, and stops counting them when they are gone', () => {
    const { memory, stores, open } = storesWith();
    const [first, second] = [open('first', { will: WILL }), open('second')];
    expect(memory.bytes).toBeGreaterThan(60 * KILOBYTES);
    for (const session of [first, second]) {
      stores.subscriptions.put(session, [subscriptionTo('a/+'), subscriptionTo('b')], 10);
      const { attachment } = session;
      if (attachment !== undefined) stores.sessions.detach(detachOf(session, { will: 'discarded' }));
    }
    const beforeMessages = memory.bytes;
    const message = messageOf({ qos: 2, payload: Buffer.alloc(100 * KILOBYTES) });
    const deliveries = [first, second].map((session) => deliveryTo(session, { qos: 2 }));
    stores.queues.offer(message, deliveries, ROOMY);
    // The two queues share the one message.
    expect(memory.bytes - beforeMessages).toBeGreaterThan(100 * KILOBYTES);
    expect(memory.bytes - beforeMessages).toBeLessThan(102 * KILOBYTES);
    stores.received.begin(first, 1, messageId(1), 10);
    stores.retained.put('t', messageOf({ topic: 'kept', id: messageId(1) }), upTo(10));
    for (const session of [first, second]) {
      stores.sessions.remove(session);
      stores.subscriptions.clear(session);
      stores.queues.clear(session);
      stores.received.clear(session);
    }
    expect(memory.bytes).toBeGreaterThan(retainedBytes(messageOf({ topic: 'kept', id: messageId(1) })));
    stores.retained.delete('t', 'kept', messageId(2));
    expect(memory.bytes).toBe(0);
  });

  it('counts sent messages until they are acknowledged', () => {
    const { memory, stores, open } = storesWith();
    const session = open('c');
    const before = memory.bytes;
    const offer = (qos: 1 | 2, id: number) => {
      const delivery = deliveryTo(session, { qos });
      const message = messageOf({ qos, id: messageId(id), payload: Buffer.alloc(100 * KILOBYTES) });
      stores.queues.offer(message, [delivery], ROOMY);
      return delivery.packetId;
    };
    const atQos1 = offer(1, 1);
    const atQos2 = offer(2, 2);
    expect(memory.bytes - before).toBeGreaterThan(200 * KILOBYTES);
    expect(stores.queues.complete(session, atQos1, 'puback')).toBe('done');
    expect(stores.queues.release(session, atQos2)).toBe('done');
    expect(memory.bytes).toBe(before);
    expect(stores.queues.complete(session, atQos2, 'pubcomp')).toBe('done');
    expect(memory.bytes).toBe(before);
  });

  it('counts waiting messages until they are sent and acknowledged, dropped or expired', () => {
    const { memory, stores, open } = storesWith();
    const session = open('c', { attachment: attachmentOf('n', { receiveMaximum: 1 }) });
    const before = memory.bytes;
    const offer = (id: number, expiresAtMs?: number) => {
      const payload = Buffer.alloc(100 * KILOBYTES);
      const message = messageOf({ qos: 1, id: messageId(id), payload, expiresAtMs });
      stores.queues.offer(message, [deliveryTo(session, { qos: 1 })], { ...ROOMY, queueLengthMax: 2 });
    };
    for (let id = 1; id <= 5; id += 1) offer(id, id === 4 ? NOW_MS : undefined);
    // One is inflight, and of four that came to wait two gave way.
    expect(memory.bytes - before).toBeLessThan(310 * KILOBYTES);
    expect(memory.bytes - before).toBeGreaterThan(300 * KILOBYTES);
    const page = { messages: 10, bytes: Number.POSITIVE_INFINITY };
    stores.queues.complete(session, 1, 'puback');
    // The fourth has expired, the fifth is sent.
    expect(stores.queues.next(session, page, NOW_MS)).toHaveLength(1);
    stores.queues.complete(session, 2, 'puback');
    expect(memory.bytes).toBe(before);
  });

  it('counts the rules of an identity, and those of a renewal', () => {
    const { memory, stores, open } = storesWith();
    const bare = { tenant: 't', name: 'ada' };
    const rules = Array.from({ length: 100 }, () => ({
      ...({ effect: 'allow', action: 'all' } as const),
      topicFilters: ['a/b/c/d'],
    }));
    const session = open('c', { identity: bare });
    const before = memory.bytes;
    const { attachment } = session;
    if (attachment === undefined) throw new Error('the session has a connection');
    stores.sessions.renew(session, attachment, { ...bare, rules });
    expect(memory.bytes - before).toBeGreaterThan(50 * KILOBYTES);
    stores.sessions.renew(session, attachment, bare);
    expect(memory.bytes).toBe(before);
  });

  it('counts a will until it is published or discarded', () => {
    const { memory, stores, open } = storesWith();
    const session = open('c', { will: WILL });
    const withWill = memory.bytes;
    stores.sessions.detach(detachOf(session, { will: { atMs: NOW_MS, isWithdrawnByReturn: false } }));
    const connectionId = openOf('c').attachment.connectionId;
    stores.sessions.beginWill(session, connectionId, messageId(1), NOW_MS);
    expect(memory.bytes).toBe(withWill);
    stores.sessions.doneWill(session, connectionId);
    expect(memory.bytes).toBeLessThan(withWill - 60 * KILOBYTES);
  });
});

describe('memory that is full', () => {
  it('takes no further subscription or retained message, and replaces those that are there', () => {
    const { memory, stores, open } = storesWith(20 * KILOBYTES);
    const session = open('c');
    expect(stores.subscriptions.put(session, [subscriptionTo('a')], 10)).toEqual(['added']);
    const retained = (topic: string, id: number, bytes: number) =>
      stores.retained.put(
        't',
        messageOf({ topic, id: messageId(id), payload: Buffer.alloc(bytes) }),
        upTo(10),
      );
    expect(retained('large', 1, 30 * KILOBYTES)).toBe(true);
    expect(memory.isFull).toBe(true);
    expect(stores.subscriptions.put(session, [subscriptionTo('b'), subscriptionTo('a')], 10)).toEqual([
      'over-limit',
      'replaced',
    ]);
    expect(retained('other', 2, 1)).toBe(false);
    expect(retained('large', 3, 31 * KILOBYTES)).toBe(false);
    expect(retained('large', 4, 1)).toBe(true);
    expect(memory.isFull).toBe(false);
    expect(retained('other', 5, 1)).toBe(true);
  });
});

import { type Delivery, type Message, type OpenSession, type SessionRef, sessionKey } from '@apus/broker';
import { upTo } from '@apus/broker/samples';
import { createDiskStores, type DiskStores } from '@apus/store-disk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from './support/directory.ts';
import {
  attachmentOf,
  deliveryTo,
  detachOf,
  messageId,
  messageOf,
  NOW_MS,
  openedOf,
  openOf,
  PAGE,
  ROOMY,
  TENANT,
} from './support/values.ts';

let directory: string;
let stores: DiskStores;

beforeEach(async () => {
  directory = temporaryDirectory();
  await reopen();
});

afterEach(async () => await stores.close());

async function reopen(): Promise<void> {
  await stores?.close();
  stores = await createDiskStores({ directory, clock: { now: () => NOW_MS } });
}

const open = async (clientId: string, fields: Partial<OpenSession> = {}) =>
  openedOf(await stores.sessions.open(openOf(clientId, fields))).session;
const offer = (message: Message, deliveries: readonly Delivery[], hold?: ReadonlySet<Delivery>) =>
  stores.queues.offer(message, deliveries, ROOMY, hold);
const lose = async (session: SessionRef) => await stores.sessions.detach(detachOf(session));
const isLate = (answer: unknown) => answer instanceof Promise;
const subscription = {
  topicFilter: 'a/+',
  shareGroup: undefined,
  qos: 1,
  noLocal: false,
  retainAsPublished: false,
  subscriptionIdentifier: undefined,
} as const;

describe('an acknowledgement to a client waits for the disk', () => {
  it('CONNACK: a session that outlives its connection', () => {
    expect(isLate(stores.sessions.open(openOf('a')))).toBe(true);
  });

  it('CONNACK: the end of such a session', async () => {
    await open('a');
    expect(isLate(stores.sessions.open(openOf('a', { cleanStart: true, expirySeconds: 0 })))).toBe(true);
  });

  it('SUBACK and UNSUBACK', async () => {
    const session = await open('a');
    const put = stores.subscriptions.put(session, [subscription], 10);
    expect(isLate(put)).toBe(true);
    expect(await put).toEqual(['added']);
    const removed = stores.subscriptions.remove(session, [subscription]);
    expect(isLate(removed)).toBe(true);
    expect(await removed).toEqual([true]);
  });

  it.each([1, 2] as const)('PUBACK and PUBREC: a message for it at QoS %i, sent or waiting', async (qos) => {
    const session = await open('a');
    expect(isLate(offer(messageOf(1, { qos }), [deliveryTo(session, { qos })]))).toBe(true);
    await lose(session);
    expect(isLate(offer(messageOf(2, { qos }), [deliveryTo(session, { qos })]))).toBe(true);
  });

  it('PUBACK: a retained message at QoS 1, and its removal', async () => {
    const put = stores.retained.put(TENANT, messageOf(1, { retain: true }), upTo(10));
    expect(isLate(put)).toBe(true);
    await put;
    expect(isLate(stores.retained.delete(TENANT, 'a/b', messageId(2)))).toBe(true);
  });

  it('PUBREC: the receipt, when no fan-out has waited for it', async () => {
    const session = await open('a');
    expect(isLate(stores.received.begin(session, 1, messageId(1), 10))).toBe(false);
    expect(isLate(stores.received.markDelivered(session, 1))).toBe(true);
  });

  it('PUBREC for a resend: the receipt as well', async () => {
    const session = await open('a');
    await stores.received.begin(session, 1, messageId(1), 10);
    const marked = stores.received.markDelivered(session, 1);
    expect(isLate(stores.received.begin(session, 1, messageId(2), 10))).toBe(true);
    await marked;
    expect(isLate(stores.received.begin(session, 1, messageId(3), 10))).toBe(false);
  });

  it('PUBCOMP: the end of a receipt', async () => {
    const session = await open('a');
    await stores.received.begin(session, 1, messageId(1), 10);
    expect(isLate(stores.received.release(session, 1))).toBe(true);
  });

  it('PUBREL: that the message will not be sent again', async () => {
    const session = await open('a');
    const delivery = deliveryTo(session, { qos: 2 });
    await offer(messageOf(1, { qos: 2 }), [delivery]);
    expect(isLate(stores.queues.release(session, delivery.packetId))).toBe(true);
  });

  describe('PUBLISH of what has waited', () => {
    const wait = async (fields: Partial<Message>, delivered: Partial<Delivery> = {}) => {
      const session = await open('a');
      const delivery = deliveryTo(session, { qos: fields.qos ?? 1, ...delivered });
      const offered = offer(messageOf(1, fields), [delivery], new Set([delivery]));
      return { offered, next: () => stores.queues.next(session, PAGE, NOW_MS) };
    };

    it('at QoS 1 waits for nothing', async () => {
      const { offered, next } = await wait({ qos: 1 });
      expect(isLate(next())).toBe(false);
      await offered;
    });

    it('at QoS 2 waits for the message and its packet id, which it got with its place', async () => {
      const { offered, next } = await wait({ qos: 2 });
      await offered;
      expect(isLate(next())).toBe(false);
    });

    it('at QoS 2 waits while they are on their way', async () => {
      const { offered, next } = await wait({ qos: 2 });
      expect(isLate(next())).toBe(true);
      await offered;
    });

    it.each([
      ['it expires', { expiresAtMs: NOW_MS + 1 }, {}],
      ['another member may get it', {}, { share: { shareGroup: 'g', topicFilter: '#' } }],
    ])('at QoS 2 waits to be known as sent where %s', async (_, fields, delivered) => {
      const { offered, next } = await wait({ qos: 2, ...fields }, delivered);
      await offered;
      expect(isLate(next())).toBe(true);
    });
  });
});

describe('a call whose work another call has on its way to the disk waits for the disk as well', () => {
  it('PUBACK: the removal of a retained message that another client has just removed', async () => {
    await stores.retained.put(TENANT, messageOf(1, { retain: true }), upTo(10));
    const removed = stores.retained.delete(TENANT, 'a/b', messageId(2));
    const again = stores.retained.delete(TENANT, 'a/b', messageId(3));
    expect(isLate(again)).toBe(true);
    await Promise.all([removed, again]);
    expect(isLate(stores.retained.delete(TENANT, 'a/b', messageId(4)))).toBe(false);
  });

  it('PUBACK: a removal that a later message has overtaken', async () => {
    await stores.retained.put(TENANT, messageOf(1, { retain: true }), upTo(10));
    const later = stores.retained.put(TENANT, messageOf(3, { retain: true }), upTo(10));
    expect(isLate(stores.retained.delete(TENANT, 'a/b', messageId(2)))).toBe(true);
    await later;
  });

  it('PUBCOMP: a repeated PUBREL', async () => {
    const session = await open('a');
    await stores.received.begin(session, 1, messageId(1), 10);
    const released = stores.received.release(session, 1);
    const again = stores.received.release(session, 1);
    expect(isLate(again)).toBe(true);
    expect(await Promise.all([released, again])).toEqual([true, false]);
    expect(isLate(stores.received.release(session, 1))).toBe(false);
  });

  it('PUBREC: a receipt that the other connection of its client has just marked as delivered', async () => {
    const session = await open('a');
    await stores.received.begin(session, 1, messageId(1), 10);
    const marked = stores.received.markDelivered(session, 1);
    const again = stores.received.markDelivered(session, 1);
    expect(isLate(again)).toBe(true);
    await Promise.all([marked, again]);
    expect(isLate(stores.received.markDelivered(session, 1))).toBe(false);
  });

  it('CONNACK without a session: the end of the one before', async () => {
    const session = await open('a');
    const ends = { expirySeconds: 0, attachment: attachmentOf('a:2') };
    await stores.sessions.detach(detachOf(session, { expirySeconds: 0 }));
    stores.sessions.remove(session);
    expect(isLate(stores.sessions.open(openOf('b', { expirySeconds: 0 }))), 'of another client').toBe(false);
    const opening = stores.sessions.open(openOf('a', ends));
    expect(isLate(opening)).toBe(true);
    expect((await stores.sessions.get(TENANT, 'a'))?.attachment, 'not before CONNACK').toBeUndefined();
    expect(openedOf(await opening).session.attachment?.connectionId).toBe('a:2');
    expect(isLate(stores.sessions.open(openOf('a', ends)))).toBe(false);
  });
});

it('a page at QoS 1 does not overtake one at QoS 2 that waits for the disk', async () => {
  const session = await open('a');
  for (const [number, qos] of [
    [1, 2],
    [2, 1],
    [3, 1],
  ] as const) {
    const delivery = deliveryTo(session, { qos });
    await offer(messageOf(number, { qos, expiresAtMs: NOW_MS + 1 }), [delivery], new Set([delivery]));
  }
  const dequeued: string[] = [];
  const dequeue = async () => {
    const [queued] = await stores.queues.next(session, { messages: 1, bytes: 100 }, NOW_MS);
    if (queued?.type === 'publish') dequeued.push(`${queued.message.payload}`);
  };
  await Promise.all([dequeue(), dequeue(), dequeue()]);
  expect(dequeued).toEqual(['1', '2', '3']);
});

describe('a call that promises nothing is answered at once', () => {
  it('everything of a session that ends with its connection', async () => {
    const opened = stores.sessions.open(openOf('a', { expirySeconds: 0 }));
    expect(isLate(opened)).toBe(false);
    const { session } = openedOf(await opened);
    const delivery = deliveryTo(session, { qos: 2 });
    const answers = [
      stores.subscriptions.put(session, [subscription], 10),
      offer(messageOf(1, { qos: 2 }), [delivery]),
      stores.queues.release(session, delivery.packetId),
      stores.queues.complete(session, delivery.packetId),
      stores.queues.next(session, PAGE, NOW_MS),
      stores.received.begin(session, 1, messageId(1), 10),
      stores.received.markDelivered(session, 1),
      stores.received.release(session, 1),
      stores.subscriptions.remove(session, [subscription]),
      stores.sessions.detach(detachOf(session, { connectionId: 'a:1', expirySeconds: 0 })),
      stores.sessions.remove(session),
      stores.subscriptions.clear(session),
      stores.received.clear(session),
      stores.queues.clear(session),
    ];
    expect(answers.filter(isLate)).toEqual([]);
  });

  it('acknowledgements, the end of a connection, a retained message at QoS 0, and every look', async () => {
    const will = { topic: 'w', payload: Buffer.from('w'), qos: 1, retain: false, properties: {} } as const;
    const session = await open('a', { will });
    const delivery = deliveryTo(session);
    await offer(messageOf(1), [delivery]);
    const answers = [
      stores.queues.complete(session, delivery.packetId),
      stores.queues.length(session),
      stores.retained.put(TENANT, messageOf(2, { qos: 0 }), upTo(10)),
      stores.retained.match(TENANT, '#', NOW_MS, undefined, PAGE),
      stores.subscriptions.match(TENANT, 'a/b'),
      stores.sessions.detach(
        detachOf(session, { connectionId: 'a:1', will: { atMs: NOW_MS, isWithdrawnByReturn: false } }),
      ),
      stores.sessions.beginWill(session, 'a:1', messageId(3), NOW_MS),
      stores.sessions.doneWill(session, 'a:1'),
      stores.sessions.discardWill(session, 'a:1'),
      stores.sessions.remove(session),
    ];
    expect(answers.filter(isLate)).toEqual([]);
  });
});

describe('while a connection waits for its CONNACK', () => {
  it('no message is sent to it, and new messages wait', async () => {
    await lose(await open('a'));
    const opening = stores.sessions.open(openOf('a', { attachment: attachmentOf('a:2') }));
    const { session } = (await stores.sessions.get(TENANT, 'a')) ?? {};
    if (session === undefined) throw new Error('expected a session');
    expect(session.attachment).toBeUndefined();
    const delivery = deliveryTo(session);
    const offered = offer(messageOf(1), [delivery]);
    expect(delivery.packetId).toBe(0);
    const { session: opened } = openedOf(await opening);
    expect(opened.attachment?.connectionId).toBe('a:2');
    await offered;
    expect(delivery.packetId, 'for the drain to send, not for the publisher').toBe(0);
    expect(await stores.queues.next(opened, PAGE, NOW_MS)).toHaveLength(1);
  });

  it('the next one waits for it, and then takes it over', async () => {
    const [first, second, third] = await Promise.all(
      ['1', '2', '3'].map(async (id) =>
        openedOf(await stores.sessions.open(openOf('a', { attachment: attachmentOf(id) }))),
      ),
    );
    expect(first?.previous).toBeUndefined();
    expect(second?.previous?.attachment?.connectionId).toBe('1');
    expect(third?.previous?.attachment?.connectionId).toBe('2');
    expect((await stores.sessions.get(TENANT, 'a'))?.attachment?.connectionId).toBe('3');
  });
});

describe('while a publisher waits for the disk', () => {
  it('a message that a drain sends is not sent by the publisher too, to whichever kind of session', async () => {
    const kept = await open('kept', { attachment: attachmentOf('k', { receiveMaximum: 1 }) });
    const ephemeral = await open('ephemeral', {
      expirySeconds: 0,
      attachment: attachmentOf('e', { receiveMaximum: 1 }),
    });
    const first = [deliveryTo(kept), deliveryTo(ephemeral)];
    await offer(messageOf(1), first);
    const second = [deliveryTo(kept), deliveryTo(ephemeral)];
    const offered = offer(messageOf(2), second);
    for (const { session, packetId } of first) {
      await stores.queues.complete(session, packetId, 'puback');
      expect(await stores.queues.next(session, PAGE, NOW_MS)).toHaveLength(1);
    }
    await offered;
    expect(second.map(({ packetId }) => packetId)).toEqual([0, 0]);
  });

  it('a second fan-out of the same QoS 2 message gives no session a second copy, and waits as well', async () => {
    const publisher = await open('publisher');
    const kept = await open('kept');
    const ephemeral = await open('ephemeral', { expirySeconds: 0 });
    const member = await open('member');
    const share = { shareGroup: 'g', topicFilter: '#' };
    const fanOut = () => [
      deliveryTo(kept, { qos: 2, copy: '' }),
      deliveryTo(ephemeral, { qos: 2, copy: '' }),
      deliveryTo(member, { qos: 2, copy: '', share }),
    ];
    const message = messageOf(1, { qos: 2 });
    await stores.received.begin(publisher, 7, message.id, 10);
    const first = fanOut();
    const begun = offer(message, first);
    expect((await stores.received.begin(publisher, 7, messageId(2), 10)).state).toBe('pending');
    const second = fanOut();
    const repeated = offer({ ...message }, second);
    expect(isLate(repeated)).toBe(true);
    await Promise.all([begun, repeated]);
    expect(first.every(({ packetId }) => packetId > 0)).toBe(true);
    expect(second.map(({ packetId }) => packetId)).toEqual([0, 0, 0]);
  });
});

describe('while the fan-out of a QoS 2 message may be repeated', () => {
  const message = messageOf(1, { qos: 2, retain: true });
  const share = { shareGroup: 'g', topicFilter: '#' };
  const offered = async (session: SessionRef, fields: Partial<Delivery>, waits = false) => {
    const delivery = deliveryTo(session, { qos: 2, ...fields });
    await offer(message, [delivery], new Set(waits ? [delivery] : []));
    return delivery.packetId > 0;
  };
  beforeEach(async () => {
    await stores.received.begin(await open('publisher'), 7, message.id, 10);
  });

  it('the retained message that a new subscription is answered with is another copy, before and after a restart', async () => {
    const session = await open('a');
    expect(await offered(session, { copy: '' })).toBe(true);
    expect(await offered(session, { retain: true })).toBe(true);
    await reopen();
    const again = await open('a');
    expect(await stores.queues.next(again, PAGE, NOW_MS)).toHaveLength(2);
    expect(await offered(again, { retain: true })).toBe(true);
    expect(await offered(again, { copy: '' })).toBe(false);
  });

  it.each([false, true])(
    'a message that a lost member of a share group leaves to another is not taken for a repetition (restart: %s)',
    async (restarts) => {
      const lost = await open('lost');
      await offered(lost, { share, copy: '' }, true);
      if (restarts) await reopen();
      const leaves = await open('lost');
      expect(await offered(await open('heir'), { share, copy: leaves.incarnation })).toBe(true);
    },
  );

  it('a share group whose message was left to another member gets no second one, after a restart either', async () => {
    const lost = await open('lost');
    await offered(lost, { share, copy: '' }, true);
    expect(await offered(await open('heir'), { share, copy: lost.incarnation })).toBe(true);
    await stores.sessions.remove(lost);
    await stores.queues.clear(lost);
    expect(await offered(await open('third'), { share, copy: '' })).toBe(false);
    await reopen();
    expect(await offered(await open('third'), { share, copy: '' })).toBe(false);
  });
});

describe('after a restart', () => {
  it('a QoS 2 message whose fan-out may have been cut short goes only to sessions that do not have it', async () => {
    const publisher = await open('publisher');
    const had = await open('had');
    await open('other');
    const message = messageOf(1, { qos: 2 });
    await stores.received.begin(publisher, 7, message.id, 10);
    await offer(message, [deliveryTo(had, { qos: 2, copy: '' })]);
    await reopen();
    const receipt = await stores.received.begin(await open('publisher'), 7, messageId(2), 10);
    expect(receipt).toEqual({ state: 'pending', messageId: message.id });
    const fanOut = [
      deliveryTo(await open('had'), { qos: 2, copy: '' }),
      deliveryTo(await open('other'), { qos: 2, copy: '' }),
    ];
    await offer(message, fanOut);
    expect(fanOut.map(({ packetId }) => packetId > 0)).toEqual([false, true]);
    await stores.received.markDelivered(await open('publisher'), 7);
  });

  it('knows the latest message id', async () => {
    await lose(await open('a'));
    const { session } = (await stores.sessions.get(TENANT, 'a')) ?? {};
    if (session === undefined) throw new Error('expected a session');
    await offer(messageOf(3), [deliveryTo(session)]);
    await stores.retained.put(TENANT, messageOf(2), upTo(10));
    await reopen();
    expect(stores.lastMessageId).toBe(messageId(3));
  });

  it('has forgotten sessions that ended with their connection', async () => {
    await open('a', { expirySeconds: 0 });
    await reopen();
    expect(await stores.sessions.count()).toBe(0);
  });

  it('keeps a message for many sessions as long as one of them waits for it', async () => {
    const clients = ['a', 'b', 'c'];
    const sessions = await Promise.all(clients.map((clientId) => open(clientId)));
    const deliveries = sessions.map((session) => deliveryTo(session));
    await offer(messageOf(1, { payload: Buffer.alloc(5000, 1) }), deliveries);
    const [first, second] = deliveries;
    if (first !== undefined) await stores.queues.complete(first.session, first.packetId);
    await reopen();
    if (second !== undefined) await stores.queues.complete(await open('b'), second.packetId);
    await reopen();
    const waiting = await stores.queues.next(await open('c'), PAGE, NOW_MS);
    expect(waiting).toHaveLength(1);
    expect(waiting[0]).toMatchObject({ message: { payload: Buffer.alloc(5000, 1) } });
    expect(await stores.queues.next(await open('a'), PAGE, NOW_MS)).toEqual([]);
  });

  it('has nothing of a queue that was cleared before its session was removed', async () => {
    const session = await open('a');
    await offer(messageOf(1), [deliveryTo(session)]);
    await stores.queues.clear(session);
    await reopen();
    expect(await stores.queues.next(await open('a'), PAGE, NOW_MS)).toEqual([]);
  });

  it('names sessions as before', async () => {
    await open('a');
    await reopen();
    expect((await open('a')).key).toBe(sessionKey(TENANT, 'a'));
  });
});

it('a subscription has its interval and its condition when the data directory is opened again', async () => {
  const session = await open('a');
  const conflated = { ...subscription, qos: 0, conflateMs: 250, where: 'payload.t > 80' } as const;
  await stores.subscriptions.put(session, [conflated, { ...subscription, topicFilter: 'b' }], 10);
  await reopen();
  // The session from before the restart is an object of the stores that are closed.
  const listed = [...(await stores.subscriptions.list(await open('a')))].sort((one, other) =>
    one.topicFilter < other.topicFilter ? -1 : 1,
  );
  expect(listed.map(({ topicFilter, conflateMs, where }) => [topicFilter, conflateMs, where])).toEqual([
    ['a/+', 250, 'payload.t > 80'],
    ['b', undefined, undefined],
  ]);
});

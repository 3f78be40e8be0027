import { type OpenSession, sessionKey } from '@apus/broker';
import {
  attachmentOf,
  deliveryTo,
  messageOf,
  openedOf,
  openOf,
  subscriptionTo,
  upTo,
} from '@apus/broker/samples';
import { createMemoryStores, type MemoryStores } from '@apus/store-memory';
import { beforeEach, describe, expect, it } from 'vitest';

const request = openOf('c', { tenant: 't', attachment: attachmentOf('1'), nowMs: 0 });
const again = { ...request, attachment: attachmentOf('2') };
const subscription = subscriptionTo('a');

describe('a value that the memory store returns', () => {
  let stores: MemoryStores;

  beforeEach(() => {
    stores = createMemoryStores();
  });

  const open = (fields: OpenSession = request) => openedOf(stores.sessions.open(fields));

  it('is never a promise', () => {
    const { session } = open();
    const message = messageOf({ topic: 'a', retain: true });
    const delivery = deliveryTo(session);
    const { sessions, subscriptions, retained, queues, received } = stores;
    const filter = { topicFilter: 'a', shareGroup: undefined };
    const limits = { queueLengthMax: 1, queueBytesMax: 100, whenFull: 'drop-newest' as const };
    const answers: unknown[] = [
      sessions.get('t', 'c'),
      sessions.count(),
      subscriptions.put(session, [subscription], 1),
      subscriptions.match('t', 'a'),
      subscriptions.members('t', filter),
      subscriptions.list(session),
      subscriptions.remove(session, [filter]),
      subscriptions.clear(session),
      retained.put('t', message, upTo(1)),
      retained.match('t', '#', 0, undefined, { messages: 1, bytes: 1 }),
      retained.delete('t', 'a', '1'),
      queues.offer(message, [delivery], limits),
      queues.next(session, { messages: 1, bytes: 1 }, 0),
      queues.complete(session, 1),
      queues.release(session, 1),
      queues.length(session),
      queues.unacknowledged(session),
      queues.clear(session),
      received.begin(session, 1, '1', 1),
      received.markDelivered(session, 1),
      received.release(session, 1),
      received.clear(session),
      sessions.detach({ session, connectionId: '1', expirySeconds: 0, nowMs: 0, will: undefined }),
      sessions.beginWill(session, '1', 'id', 0),
      sessions.doneWill(session, '1'),
      sessions.discardWill(session, '1'),
      sessions.remove(session),
    ];
    expect(answers.filter((answer) => answer instanceof Promise)).toEqual([]);
  });

  it('is one ref for each incarnation, and follows its connection', () => {
    const { session } = open();
    const seen = () => session.attachment?.connectionId;
    expect(seen()).toBe('1');
    stores.sessions.detach({ session, connectionId: '1', expirySeconds: 60, nowMs: 0, will: undefined });
    expect(seen()).toBeUndefined();
    expect(open(again).session).toBe(session);
    expect(seen()).toBe('2');
  });

  it('is the same ref among the subscribers of a filter', () => {
    const { session } = open();
    stores.subscriptions.put(session, [subscription], 1);
    expect(stores.subscriptions.match('t', 'a')).toMatchObject([{ subscribers: [{ subscription }] }]);
    const members = stores.subscriptions.members('t', { topicFilter: 'a', shareGroup: undefined });
    expect(members[0]?.session).toBe(session);
  });

  it('shows no connection once its incarnation has been discarded', () => {
    const { session } = open();
    const { session: newer, previous } = open({ ...again, cleanStart: true });
    expect(newer).not.toBe(session);
    expect(previous?.attachment?.connectionId).toBe('1');
    expect(session.attachment).toBeUndefined();
    expect(newer.attachment?.connectionId).toBe('2');
  });

  it('shows a log line no more than a ref', () => {
    const { session } = open();
    stores.subscriptions.put(session, [subscription], 1);
    expect(JSON.parse(JSON.stringify(session))).toEqual({
      key: sessionKey('t', 'c'),
      tenant: 't',
      clientId: 'c',
      incarnation: expect.any(String),
      attachment: request.attachment,
    });
  });

  it('is the filter’s own list of subscribers, not a copy', () => {
    stores.subscriptions.put(open().session, [subscription], 1);
    const listed = () => stores.subscriptions.members('t', { topicFilter: 'a', shareGroup: undefined });
    expect(listed()).toBe(listed());
  });

  it('is found by a copy until all data of an ended session are cleared, and kept no longer', () => {
    const { session } = open();
    stores.subscriptions.put(session, [subscription], 1);
    stores.received.begin(session, 1, '1', 1);
    open({ ...again, cleanStart: true });
    const copy = { ...session };
    stores.received.clear(copy);
    expect(stores.sessions.live(copy)).toBe(session);
    stores.subscriptions.clear(copy);
    expect(stores.sessions.live(copy)).toBeUndefined();
  });

  it('takes no subscription for a session that has ended: it would never be removed', () => {
    const { session } = open();
    open({ ...again, cleanStart: true });
    stores.subscriptions.put(session, [subscription], 1);
    expect(stores.subscriptions.match('t', 'a')).toEqual([]);
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import type { SessionRef, Subscription, SubscriptionStore } from '../src/index.ts';
import { MAXIMUM, nameOf, summaryOf } from './subscription-support.ts';
import { attachmentOf, Client, copyOf, type MakeStores, NOW_MS, subscriptionTo, unique } from './support.ts';

/** The effect of a subscription on the next match. */
export function subscriptionPutContract(makeStores: MakeStores): void {
  let client: Client;
  let session: SessionRef;
  let subscriptions: SubscriptionStore;

  beforeEach(async () => {
    client = new Client(await makeStores());
    ({ session } = await client.open());
    ({ subscriptions } = client.stores);
  });

  const put = async (subscription: Subscription, of = session) =>
    (await subscriptions.put(of, [subscription], MAXIMUM))[0];
  const match = async (topicName: string) => await subscriptions.match(client.tenant, topicName);
  const matched = async (topicName: string) => summaryOf(await match(topicName));
  const another = async () => {
    const other = new Client(client.stores, client.tenant);
    return { other, session: (await other.open()).session };
  };

  describe('put', () => {
    it('is found by the next match', async () => {
      const subscription = subscriptionTo('a/+', { qos: 2, noLocal: true, subscriptionIdentifier: 5 });
      expect(await put(subscription)).toBe('added');
      const found = await match('a/b');
      expect(summaryOf(found)).toEqual([`a/+ → ${client.clientId}`]);
      const [subscriber] = found[0]?.subscribers ?? [];
      expect(subscriber?.subscription).toEqual(subscription);
      expect(copyOf(subscriber?.session ?? session)).toEqual(copyOf(session));
    });

    it('replaces the subscription to the same filter [MQTT-3.8.4-3]', async () => {
      await put(subscriptionTo('a/+', { qos: 2, subscriptionIdentifier: 5 }));
      const replacement = subscriptionTo('a/+', { qos: 0, retainAsPublished: true });
      expect(await put(replacement)).toBe('replaced');
      const found = await match('a/b');
      expect(found.flatMap(({ subscribers }) => subscribers.map((each) => each.subscription))).toEqual([
        replacement,
      ]);
      expect(await subscriptions.list(session)).toEqual([replacement]);
    });

    it('names the connection that a session which keeps nothing has moved to', async () => {
      const keepsNothing = { keepsNothing: true };
      const other = new Client(client.stores, client.tenant);
      const { session: before } = await other.open({
        attachment: attachmentOf(`${other.clientId}:1`, keepsNothing),
      });
      const subscribed = [
        subscriptionTo('a/+'),
        subscriptionTo('b'),
        subscriptionTo('a/+', { shareGroup: 'g' }),
      ];
      await subscriptions.put(before, subscribed, MAXIMUM);
      const attachment = attachmentOf(`${other.clientId}:2`, keepsNothing);
      const identity = { tenant: client.tenant, name: 'somebody' };
      const from = `${other.clientId}:1`;
      const after = await client.stores.sessions.renew(before, attachment, identity, { from, nowMs: NOW_MS });
      if (after === undefined) throw new Error('the session has not moved');
      await subscriptions.moved(after, from, subscribed);
      for (const topicName of ['a/b', 'b'])
        for (const { subscribers } of await match(topicName))
          expect(subscribers.map((each) => each.session.attachment?.connectionId)).toEqual([
            attachment.connectionId,
          ]);
      expect(await matched('a/b')).toHaveLength(2);
      // A handler that is late.
      const late = { ...after, attachment: attachmentOf(`${other.clientId}:3`, keepsNothing) };
      await subscriptions.moved(late, from, subscribed);
      const [found] = await match('b');
      expect(found?.subscribers[0]?.session.attachment?.connectionId).toBe(attachment.connectionId);
    });

    it('takes the filter alone and the filter of each share group as different', async () => {
      expect(await put(subscriptionTo('a'))).toBe('added');
      expect(await put(subscriptionTo('a', { shareGroup: 'g' }))).toBe('added');
      expect(await put(subscriptionTo('a', { shareGroup: 'h' }))).toBe('added');
      expect(await put(subscriptionTo('a', { shareGroup: 'g', qos: 0 }))).toBe('replaced');
      expect(await matched('a')).toHaveLength(3);
    });

    it('answers in the order of the argument', async () => {
      await put(subscriptionTo('b'));
      const outcomes = await subscriptions.put(
        session,
        ['a', 'b', 'c', 'a'].map((filter) => subscriptionTo(filter)),
        MAXIMUM,
      );
      expect(outcomes).toEqual(['added', 'replaced', 'added', 'replaced']);
    });

    it('takes as many subscriptions as the maximum, and not one more', async () => {
      const filters = ['a', 'b', 'c', 'd', 'b'].map((filter) => subscriptionTo(filter));
      const outcomes = await subscriptions.put(session, filters, 3);
      expect(outcomes).toEqual(['added', 'added', 'added', 'over-limit', 'replaced']);
      expect(await matched('d')).toEqual([]);
      expect(await subscriptions.put(session, [subscriptionTo('d'), subscriptionTo('a')], 3)).toEqual([
        'over-limit',
        'replaced',
      ]);
      await subscriptions.remove(session, [nameOf('a')]);
      expect(await subscriptions.put(session, [subscriptionTo('d')], 3)).toEqual(['added']);
    });

    it('[SEC-MEMORY-4] counts a filter once for each sixteen levels, or 1,024 characters, that it begins', async () => {
      const deep = subscriptionTo(`deep${'/+'.repeat(47)}`); // 48 levels: three.
      const deeper = subscriptionTo(`deeper${'/+'.repeat(48)}`); // Four.
      const long = subscriptionTo('x'.repeat(1025)); // Two.
      const put = async (subscription: Subscription) =>
        (await subscriptions.put(session, [subscription], 5))[0];
      expect(await put(deep)).toBe('added');
      expect(await put(long)).toBe('added');
      expect(await put(subscriptionTo('a'))).toBe('over-limit');
      expect(await put(deep)).toBe('replaced');
      expect(await subscriptions.remove(session, [nameOf(deep.topicFilter)])).toEqual([true]);
      expect(await put(deeper)).toBe('over-limit');
      expect(await put(subscriptionTo('a'))).toBe('added');
      expect(await put(subscriptionTo('b'))).toBe('added');
      expect(await put(subscriptionTo('c'))).toBe('added');
      expect(await put(subscriptionTo('d'))).toBe('over-limit');
    });

    it('counts heavy subscriptions in the same way when there are many of them', async () => {
      const filters = Array.from({ length: 40 }, (_, index) => subscriptionTo(`${index}${'/+'.repeat(16)}`));
      const outcomes = await subscriptions.put(session, filters, 70);
      expect(outcomes.filter((outcome) => outcome === 'added')).toHaveLength(35);
      expect(await subscriptions.remove(session, [nameOf(filters[0]?.topicFilter ?? '')])).toEqual([true]);
      expect(await subscriptions.put(session, [subscriptionTo('a'), subscriptionTo('b')], 70)).toEqual([
        'added',
        'added',
      ]);
      expect(await subscriptions.put(session, [subscriptionTo('c')], 70)).toEqual(['over-limit']);
    });

    it('takes many subscriptions of one session', async () => {
      const filters = Array.from({ length: 50 }, (_, index) => subscriptionTo(`many/${index}`));
      expect(new Set(await subscriptions.put(session, filters, MAXIMUM))).toEqual(new Set(['added']));
      expect(new Set(await subscriptions.put(session, filters, MAXIMUM))).toEqual(new Set(['replaced']));
      expect(await subscriptions.list(session)).toHaveLength(50);
      expect(await matched('many/49')).toEqual([`many/49 → ${client.clientId}`]);
    });

    it('takes a copy of the ref', async () => {
      await put(subscriptionTo('a'), copyOf(session));
      expect(await put(subscriptionTo('a'))).toBe('replaced');
    });
  });

  describe('match', () => {
    it('finds each filter that matches, once, with all of its subscribers', async () => {
      const { other, session: otherSession } = await another();
      await subscriptions.put(
        session,
        ['a/b', 'a/+', '#'].map((each) => subscriptionTo(each)),
        MAXIMUM,
      );
      await subscriptions.put(
        otherSession,
        ['a/+', 'x/#'].map((each) => subscriptionTo(each)),
        MAXIMUM,
      );
      expect(await matched('a/b')).toEqual(
        [
          `# → ${client.clientId}`,
          `a/+ → ${[client.clientId, other.clientId].sort()}`,
          `a/b → ${client.clientId}`,
        ].sort(),
      );
    });

    it('keeps share groups apart from each other and from plain subscribers', async () => {
      const { other, session: otherSession } = await another();
      await put(subscriptionTo('a/+'));
      await put(subscriptionTo('a/+', { shareGroup: 'g' }));
      await put(subscriptionTo('a/+', { shareGroup: 'g' }), otherSession);
      await put(subscriptionTo('a/+', { shareGroup: 'h' }), otherSession);
      expect(await matched('a/b')).toEqual(
        [
          `a/+ → ${client.clientId}`,
          `g: a/+ → ${[client.clientId, other.clientId].sort()}`,
          `h: a/+ → ${other.clientId}`,
        ].sort(),
      );
    });

    it('finds nothing where nothing matches', async () => {
      await put(subscriptionTo('a/b'));
      expect(await match('a/b/c')).toEqual([]);
      expect(await match('a')).toEqual([]);
      expect(await match('A/B')).toEqual([]);
    });

    it('does not show topics that begin with $ to a wildcard [MQTT-4.7.2-1]', async () => {
      for (const filter of ['#', '+/a', '$SYS/#']) await put(subscriptionTo(filter));
      expect(await matched('$SYS/a')).toEqual([`$SYS/# → ${client.clientId}`]);
    });

    it('keeps tenants apart', async () => {
      await put(subscriptionTo('#'));
      expect(await subscriptions.match(unique('tenant'), 'a')).toEqual([]);
    });

    it('shows the connection that a subscriber has now', async () => {
      await put(subscriptionTo('a'));
      const shown = async () => (await match('a'))[0]?.subscribers[0]?.session.attachment?.connectionId;
      expect(await shown()).toBe(client.connectionId);
      await client.lose();
      expect(await shown()).toBeUndefined();
      await client.resume();
      expect(await shown()).toBe(client.connectionId);
      await client.resume();
      expect(await shown()).toBe(client.connectionId);
    });

    it('finds subscribers again after their neighbours left', async () => {
      const others = [await another(), await another(), await another(), await another()];
      for (const { session: each } of others) await put(subscriptionTo('wide'), each);
      await put(subscriptionTo('wide'));
      const [first, second, third, fourth] = others;
      for (const gone of [second, first]) {
        if (gone !== undefined) await subscriptions.remove(gone.session, [nameOf('wide')]);
      }
      if (fourth !== undefined) await subscriptions.clear(fourth.session);
      expect(await matched('wide')).toEqual([`wide → ${[client.clientId, third?.other.clientId].sort()}`]);
    });
  });
}

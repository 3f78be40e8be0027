import { beforeEach, describe, expect, it } from 'vitest';
import type { FilterName, MatchedFilter, SessionRef, Subscription, SubscriptionStore } from '../src/index.ts';
import { subscriptionWalk } from './subscription-walk.ts';
import { Client, copyOf, type MakeStores, subscriptionTo, unique } from './support.ts';

const MAXIMUM = 100;

const nameOf = (topicFilter: string, shareGroup?: string): FilterName => ({ topicFilter, shareGroup });

/** What every `SubscriptionStore` does. */
export function subscriptionStoreContract(name: string, makeStores: MakeStores): void {
  describe(`${name}: SubscriptionStore`, () => {
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
      it('finds each filter that matches, once, with everybody who holds it', async () => {
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

    describe('remove', () => {
      it('ends a subscription before its answer [MQTT-3.10.4-2]', async () => {
        await put(subscriptionTo('a'));
        expect(await subscriptions.remove(session, [nameOf('a')])).toEqual([true]);
        expect(await match('a')).toEqual([]);
        expect(await subscriptions.list(session)).toEqual([]);
      });

      it('answers which existed, in the order of the argument', async () => {
        await put(subscriptionTo('a'));
        await put(subscriptionTo('b', { shareGroup: 'g' }));
        const filters = [
          nameOf('b'),
          nameOf('a'),
          nameOf('c'),
          nameOf('b', 'h'),
          nameOf('b', 'g'),
          nameOf('a'),
        ];
        expect(await subscriptions.remove(session, filters)).toEqual([
          false,
          true,
          false,
          false,
          true,
          false,
        ]);
      });

      it('compares filters character by character [MQTT-3.10.4-1]', async () => {
        await put(subscriptionTo('a/+'));
        const others = ['a/b', 'a/#', 'A/+', 'a/+/', '+/+'].map((filter) => nameOf(filter));
        expect(await subscriptions.remove(session, others)).toEqual([false, false, false, false, false]);
        expect(await matched('a/b')).toHaveLength(1);
      });

      it('leaves those to the same filter in other share groups', async () => {
        await put(subscriptionTo('a'));
        await put(subscriptionTo('a', { shareGroup: 'g' }));
        await put(subscriptionTo('a', { shareGroup: 'h' }));
        await subscriptions.remove(session, [nameOf('a')]);
        expect(await matched('a')).toEqual([`g: a → ${client.clientId}`, `h: a → ${client.clientId}`]);
        await subscriptions.remove(session, [nameOf('a', 'g')]);
        expect(await matched('a')).toEqual([`h: a → ${client.clientId}`]);
      });

      it('leaves the subscriptions of others', async () => {
        const { other, session: otherSession } = await another();
        await put(subscriptionTo('a'));
        await put(subscriptionTo('a'), otherSession);
        expect(await subscriptions.remove(session, [nameOf('a')])).toEqual([true]);
        expect(await subscriptions.remove(session, [nameOf('a')])).toEqual([false]);
        expect(await matched('a')).toEqual([`a → ${other.clientId}`]);
      });
    });

    describe('clear', () => {
      it('removes all that the session holds', async () => {
        for (const filter of ['a', '+', '#']) await put(subscriptionTo(filter));
        await put(subscriptionTo('a', { shareGroup: 'g' }));
        await subscriptions.clear(session);
        expect(await match('a')).toEqual([]);
        expect(await subscriptions.members(client.tenant, nameOf('a', 'g'))).toEqual([]);
        expect(await subscriptions.list(session)).toEqual([]);
        expect(await put(subscriptionTo('a'))).toBe('added');
      });

      it('leaves a newer incarnation what it holds [MQTT-3.1.2-4]', async () => {
        await put(subscriptionTo('a'));
        await put(subscriptionTo('b'));
        const { session: newer } = await client.open({ cleanStart: true });
        expect(await subscriptions.list(newer)).toEqual([]);
        expect(await put(subscriptionTo('a', { qos: 2 }), newer)).toBe('added');
        await subscriptions.clear(copyOf(session));
        expect(await matched('a')).toEqual([`a → ${client.clientId}`]);
        expect(await matched('b')).toEqual([]);
        expect((await subscriptions.list(newer)).map(({ qos }) => qos)).toEqual([2]);
      });

      it('works after the session was removed', async () => {
        await put(subscriptionTo('a'));
        const offline = copyOf(await client.lose());
        await client.stores.sessions.remove(offline);
        await subscriptions.clear(offline);
        expect(await match('a')).toEqual([]);
      });

      it('does nothing for a session that holds nothing', async () => {
        await subscriptions.clear(session);
        expect(await subscriptions.list(session)).toEqual([]);
      });
    });

    it('shows the subscribers of an incarnation that was discarded as offline', async () => {
      await put(subscriptionTo('a'));
      await client.open({ cleanStart: true });
      const shown = (await match('a')).flatMap(({ subscribers }) => subscribers);
      expect(shown.every(({ session: each }) => each.attachment === undefined)).toBe(true);
    });

    it('lists what a session holds, through a reconnection too [MQTT-4.1.0-1]', async () => {
      const held = [subscriptionTo('a'), subscriptionTo('b/#', { shareGroup: 'g', qos: 2 })];
      await subscriptions.put(session, held, MAXIMUM);
      await client.lose();
      const listed = await subscriptions.list(await client.resume());
      expect(listed).toHaveLength(2);
      expect(listed).toEqual(expect.arrayContaining(held));
    });

    it('names the members of a share group', async () => {
      const { other, session: otherSession } = await another();
      await put(subscriptionTo('a/+', { shareGroup: 'g' }));
      await put(subscriptionTo('a/+', { shareGroup: 'g', qos: 2 }), otherSession);
      await put(subscriptionTo('a/+'));
      const members = await subscriptions.members(client.tenant, nameOf('a/+', 'g'));
      expect(members.map((each) => `${each.session.clientId} ${each.subscription.qos}`).sort()).toEqual(
        [`${client.clientId} 1`, `${other.clientId} 2`].sort(),
      );
      expect(await subscriptions.members(client.tenant, nameOf('a/+', 'h'))).toEqual([]);
      expect(await subscriptions.members(unique('tenant'), nameOf('a/+', 'g'))).toEqual([]);
    });

    it('agrees with naive matching, whatever the order of calls', async () => {
      await subscriptionWalk(client.stores);
    });
  });
}

/** `group: filter → client identifiers`, sorted. */
function summaryOf(found: readonly MatchedFilter[]): string[] {
  return found
    .map(({ topicFilter, shareGroup, subscribers }) => {
      const clients = subscribers.map(({ session }) => session.clientId).sort();
      return `${shareGroup === undefined ? '' : `${shareGroup}: `}${topicFilter} → ${clients}`;
    })
    .sort();
}

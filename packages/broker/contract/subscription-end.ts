import { beforeEach, describe, expect, it } from 'vitest';
import type { SessionRef, Subscription, SubscriptionStore } from '../src/index.ts';
import { MAXIMUM, nameOf, summaryOf } from './subscription-support.ts';
import { Client, copyOf, type MakeStores, subscriptionTo, unique } from './support.ts';

/** How subscriptions end, and who still holds which. */
export function subscriptionEndContract(makeStores: MakeStores): void {
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

  describe('remove', () => {
    it('ends a subscription before its answer [MQTT-3.10.4-2]', async () => {
      await put(subscriptionTo('a'));
      expect(await subscriptions.remove(session, [nameOf('a')])).toEqual([true]);
      expect(await match('a')).toEqual([]);
      expect(await subscriptions.list(session)).toEqual([]);
    });

    it('returns which of them existed, in the order of the argument', async () => {
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
      expect(await subscriptions.remove(session, filters)).toEqual([false, true, false, false, true, false]);
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
    it('removes all subscriptions of the session', async () => {
      for (const filter of ['a', '+', '#']) await put(subscriptionTo(filter));
      await put(subscriptionTo('a', { shareGroup: 'g' }));
      await subscriptions.clear(session);
      expect(await match('a')).toEqual([]);
      expect(await subscriptions.members(client.tenant, nameOf('a', 'g'))).toEqual([]);
      expect(await subscriptions.list(session)).toEqual([]);
      expect(await put(subscriptionTo('a'))).toBe('added');
    });

    it('leaves the subscriptions of a newer incarnation [MQTT-3.1.2-4]', async () => {
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

    it('does nothing for a session without subscriptions', async () => {
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

  it('lists the subscriptions of a session, also after a reconnection [MQTT-4.1.0-1]', async () => {
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
}

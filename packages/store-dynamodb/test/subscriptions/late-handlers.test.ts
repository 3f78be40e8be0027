import { LiveReader, type MatchedFilter, type SessionRef, type Subscription } from '@apus/broker';
import { describe, expect, it, vi } from 'vitest';
import { storedFilterOf } from '../../src/subscriptions/conflated-groups.ts';
import { attachmentOf, open, subscriptionTo, unique } from '../support/client.ts';
import { FakeClock, type MakeOptions, NOW_MS, withService } from '../support/stores.ts';

const MAXIMUM = 100;
const KEEPS_NOTHING = { keepsNothing: true };
const INTERVAL_MS = 1_000;
const FIRST = 'c:1';
const SECOND = 'c:2';

// On a service that is reached over HTTP these are some thousand calls.
vi.setConfig({ testTimeout: 60_000 });

type SubscriptionOn = (connectionId: string) => Subscription;
const reader: SubscriptionOn = (connectionId) => ({
  ...subscriptionTo('feed', { qos: 0 }),
  reader: new LiveReader(connectionId),
});
const plain: SubscriptionOn = () => subscriptionTo('feed');
const shared: SubscriptionOn = () => subscriptionTo('feed', { shareGroup: 'g' });
const conflated: SubscriptionOn = () => ({ ...subscriptionTo('feed', { qos: 0 }), conflateMs: INTERVAL_MS });

const IN_SHARDS = { inlineSubscribersMax: 0 };

/** Kinds of subscriptions that carry a connection, and where they stand. */
const KINDS = [
  { name: 'a reader in a head', isKept: true, on: reader, options: {} },
  { name: 'a reader in a shard', isKept: true, on: reader, options: IN_SHARDS },
  { name: 'of a session that keeps nothing, in a head', isKept: false, on: plain, options: {} },
  { name: 'of a session that keeps nothing, in a shard', isKept: false, on: plain, options: IN_SHARDS },
  { name: 'of a session that keeps nothing, in a share group', isKept: false, on: shared, options: {} },
  {
    name: 'of a session that keeps nothing, in a conflated group',
    isKept: false,
    on: conflated,
    options: {},
  },
] as const;

/** Connections of the subscribers that a publisher finds. */
function connectionsOf(matched: readonly Pick<MatchedFilter, 'subscribers'>[]): (string | undefined)[] {
  return matched.flatMap(({ subscribers }) =>
    subscribers.map(
      ({ session, subscription }) => subscription.reader?.connectionId ?? session.attachment?.connectionId,
    ),
  );
}

await withService((service) => {
  describe.each(KINDS)('a subscription, $name', ({ isKept, on, options }) => {
    const begin = async () => {
      const tenant = unique('tenant');
      const fakeClock = new FakeClock();
      const make = (more: MakeOptions = {}) => service.make({ fakeClock, ...options, ...more });
      const stores = make();
      const first = await open(stores, tenant, 'c', {
        connectionId: FIRST,
        attachment: isKept ? {} : KEEPS_NOTHING,
      });
      // The shape is known, and no SUBACK waits for it.
      await stores.subscriptions.put(first.session, [subscriptionTo('other')], MAXIMUM);
      /** The client is back: it connects anew, or resumes its session. */
      const isBack = async (): Promise<SessionRef> => {
        if (isKept) return (await open(stores, tenant, 'c', { connectionId: SECOND })).session;
        const attachment = attachmentOf(SECOND, KEEPS_NOTHING);
        const identity = { tenant, name: 'c' };
        const move = { from: FIRST, nowMs: NOW_MS };
        const session = await stores.sessions.renew(first.session, attachment, identity, move);
        if (session === undefined) throw new Error('the session has not moved');
        await stores.subscriptions.moved(session, FIRST, await stores.subscriptions.list(session));
        return session;
      };
      const found = async () => {
        const { subscriptions } = make({ shards: 'read' });
        // Publishers do not find the subscribers of a conflated group: its tick reads their shards.
        if (on !== conflated) return connectionsOf(await subscriptions.match(tenant, 'feed'));
        const group = { tenant, topicFilter: storedFilterOf('feed', INTERVAL_MS), shard: 0 };
        return connectionsOf([await subscriptions.readShard(group, { after: undefined })]);
      };
      return { make, stores, first: first.session, isBack, found };
    };

    /** Runs `between` just before call number `due` of another process. Returns whether there was such a call. */
    const interrupted = async (
      make: (options: MakeOptions) => ReturnType<typeof service.make>,
      due: number,
      between: () => Promise<unknown>,
      late: (stores: ReturnType<typeof service.make>) => Promise<unknown>,
    ) => {
      let calls = 0;
      const before = async () => {
        calls += 1;
        if (calls === due) await between();
      };
      await late(make({ hooks: { before } })).catch((error: Error) =>
        expect(error.name).toBe('ConnectionLost'),
      );
      return calls >= due;
    };

    it.each([
      ['for the first time', false],
      ['again', true],
    ])(
      'names the present connection, wherever a handler of an earlier one that subscribes %s is interrupted',
      async (_, wasThere) => {
        let due = 1;
        for (let hasCome = true; hasCome; due += 1) {
          const { make, stores, first, isBack, found } = await begin();
          if (wasThere) await stores.subscriptions.put(first, [on(FIRST)], MAXIMUM);
          const subscribes = async () => {
            await stores.subscriptions.put(await isBack(), [on(SECOND)], MAXIMUM);
          };
          hasCome = await interrupted(make, due, subscribes, (late) =>
            late.subscriptions.put(first, [on(FIRST)], MAXIMUM),
          );
          if (hasCome) expect(await found(), `at call ${due}`).toEqual([SECOND]);
        }
        expect(due).toBeGreaterThan(2);
      },
    );

    it('stays, wherever a handler of an earlier connection that unsubscribes is interrupted', async () => {
      let due = 1;
      for (let hasCome = true; hasCome; due += 1) {
        const { make, stores, first, isBack, found } = await begin();
        await stores.subscriptions.put(first, [on(FIRST)], MAXIMUM);
        const subscribes = async () => {
          await stores.subscriptions.put(await isBack(), [on(SECOND)], MAXIMUM);
        };
        const { topicFilter, shareGroup } = on(FIRST);
        // When the entry is removed, the later SUBSCRIBE adds another.
        hasCome = await interrupted(make, due, subscribes, (late) =>
          late.subscriptions.remove(first, [{ topicFilter, shareGroup }]),
        );
        if (hasCome) expect(await found(), `at call ${due}`).toEqual([SECOND]);
      }
      expect(due).toBeGreaterThan(2);
    });

    it('is written at once on its connection, and after a read of the session on the next one', async () => {
      const { make, first, isBack } = await begin();
      const callsOf = async (session: SessionRef, connectionId: string) => {
        const calls: string[] = [];
        const before = (operation: string) => void calls.push(operation);
        await make({ hooks: { before } }).subscriptions.put(session, [on(connectionId)], MAXIMUM);
        return calls.filter((operation) => operation === 'GetItem').length;
      };
      const shapes = 1;
      expect(await callsOf(first, FIRST)).toBe(shapes);
      expect(await callsOf(first, FIRST)).toBe(shapes);
      const session = await isBack();
      // The entries of a session that keeps nothing have been moved.
      expect(await callsOf(session, SECOND)).toBe(isKept ? shapes + 1 : shapes);
      expect(await callsOf(session, SECOND)).toBe(shapes);
    });

    it('is removed by the present connection, and at the end of the session', async () => {
      const { stores, first, isBack, found } = await begin();
      const { topicFilter, shareGroup } = on(FIRST);
      await stores.subscriptions.put(first, [on(FIRST)], MAXIMUM);
      const session = await isBack();
      await stores.subscriptions.remove(session, [{ topicFilter, shareGroup }]);
      expect(await found()).toEqual([]);
      await stores.subscriptions.put(session, [on(SECOND)], MAXIMUM);
      await stores.subscriptions.clear(first);
      expect(await found()).toEqual([]);
    });
  });
});

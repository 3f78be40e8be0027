import { matches, type QoS } from '@apus/mqtt';
import fc from 'fast-check';
import { expect } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import type { FilterName, SessionRef, Stores, Subscription } from '../src/index.ts';
import { Client, subscriptionTo, unique } from './support.ts';

const CLIENTS = 3;
const MAXIMUM = 4;

/** One step of the walk. A client is named by its number, a subscription by filter and group. */
type Step =
  | { do: 'put'; client: number; subscriptions: Subscription[] }
  | { do: 'remove'; client: number; filters: FilterName[] }
  | { do: 'clear'; client: number }
  | { do: 'match'; topicName: string };

const level = fc.constantFrom('a', 'b', '', '$s');
const topicName = fc.array(level, { minLength: 1, maxLength: 3 }).map((levels) => levels.join('/') || 'a');
const topicFilter = fc
  .tuple(fc.array(fc.oneof(level, fc.constant('+')), { maxLength: 3 }), fc.boolean())
  .map(([levels, hash]) => [...levels, ...(hash ? ['#'] : [])].join('/') || '+');
const shareGroup = fc.constantFrom(undefined, undefined, 'g', 'h');
const filterName = fc.record({ topicFilter, shareGroup });
const subscription = fc
  .tuple(filterName, fc.constantFrom<QoS>(0, 1, 2))
  .map(([{ topicFilter: filter, shareGroup: group }, qos]) =>
    subscriptionTo(filter, { shareGroup: group, qos }),
  );
const client = fc.nat({ max: CLIENTS - 1 });

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      client,
      subscriptions: fc.array(subscription, { maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('remove' as const),
      client,
      filters: fc.array(filterName, { maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const), client }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('match' as const), topicName }) },
);

/** Random calls, compared with a list that is searched from end to end. */
export async function subscriptionWalk(stores: Stores): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const tenant = unique('walk');
      const sessions: SessionRef[] = [];
      for (let index = 0; index < CLIENTS; index += 1) {
        sessions.push((await new Client(stores, tenant, `client-${index}`).open()).session);
      }
      const walk = new Walk(stores, tenant, sessions);
      for (const each of steps) await walk.take(each);
    }),
    { numRuns: runs(100) },
  );
}

class Walk {
  readonly #stores: Stores;
  readonly #tenant: string;
  readonly #sessions: readonly SessionRef[];
  /** The model: the subscriptions of each client. */
  #held: { clientId: string; subscription: Subscription }[] = [];

  constructor(stores: Stores, tenant: string, sessions: readonly SessionRef[]) {
    this.#stores = stores;
    this.#tenant = tenant;
    this.#sessions = sessions;
  }

  async take(each: Step): Promise<void> {
    if (each.do === 'match') return await this.#match(each.topicName);
    const session = this.#sessions[each.client];
    if (session === undefined) return;
    const { subscriptions } = this.#stores;
    const { clientId } = session;
    if (each.do === 'put') {
      const expected = each.subscriptions.map((one) => this.#put(clientId, one));
      expect(await subscriptions.put(session, each.subscriptions, MAXIMUM)).toEqual(expected);
    } else if (each.do === 'remove') {
      const expected = each.filters.map((one) => this.#remove(clientId, one));
      expect(await subscriptions.remove(session, each.filters)).toEqual(expected);
    } else {
      this.#held = this.#held.filter((one) => one.clientId !== clientId);
      await subscriptions.clear(session);
    }
    await this.#list(session);
  }

  #put(clientId: string, subscription: Subscription): string {
    const held = this.#held.find(
      (one) => one.clientId === clientId && isSame(one.subscription, subscription),
    );
    if (held !== undefined) {
      held.subscription = subscription;
      return 'replaced';
    }
    if (this.#held.filter((one) => one.clientId === clientId).length >= MAXIMUM) return 'over-limit';
    this.#held.push({ clientId, subscription });
    return 'added';
  }

  #remove(clientId: string, name: FilterName): boolean {
    const index = this.#held.findIndex((one) => one.clientId === clientId && isSame(one.subscription, name));
    if (index >= 0) this.#held.splice(index, 1);
    return index >= 0;
  }

  async #match(topicName: string): Promise<void> {
    const found = await this.#stores.subscriptions.match(this.#tenant, topicName);
    const names = found.map(({ topicFilter, shareGroup }) => JSON.stringify([topicFilter, shareGroup]));
    expect(new Set(names).size, 'each filter once').toBe(names.length);
    const lines = found.flatMap((filter) =>
      filter.subscribers.map(({ session, subscription }) => {
        expect(isSame(subscription, filter)).toBe(true);
        return lineOf(session.clientId, subscription);
      }),
    );
    const expected = this.#held.filter(({ subscription }) => matches(subscription.topicFilter, topicName));
    expect(lines.sort()).toEqual(expected.map((one) => lineOf(one.clientId, one.subscription)).sort());
  }

  async #list(session: SessionRef): Promise<void> {
    const listed = await this.#stores.subscriptions.list(session);
    const expected = this.#held.filter(({ clientId }) => clientId === session.clientId);
    expect(listed.map((one) => lineOf(session.clientId, one)).sort()).toEqual(
      expected.map((one) => lineOf(one.clientId, one.subscription)).sort(),
    );
  }
}

function isSame(one: FilterName, other: FilterName): boolean {
  return one.topicFilter === other.topicFilter && one.shareGroup === other.shareGroup;
}

function lineOf(clientId: string, { topicFilter, shareGroup, qos }: Subscription): string {
  return JSON.stringify([clientId, shareGroup, topicFilter, qos]);
}

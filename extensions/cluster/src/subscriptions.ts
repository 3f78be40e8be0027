import type {
  Awaitable,
  FilterName,
  MatchedFilter,
  SessionRef,
  StreamDeclarations,
  SubscribeOutcome,
  Subscriber,
  Subscription,
} from '@apus/broker';
import type { JournaledStores } from '@apus/store-disk';
import type { OwnRoutes } from './own-routes.ts';
import type { RemoteRoutes } from './remote-routes.ts';
import { groupedFilter } from './route-name.ts';
import type { ShareChoice } from './share-choice.ts';

type Inner = JournaledStores['subscriptions'];

const NONE: readonly Subscriber[] = [];

/** In `MatchedFilter`: all other processes with subscribers in no share group. */
export const EVERYWHERE = '#';

/**
 * The subscriptions of this process. Subscribers of other processes stand in one shard of a match, which
 * `ClusterFanOut` serves.
 */
export class ClusterSubscriptions {
  readonly #inner: Inner;
  readonly #own: OwnRoutes;
  readonly #remote: RemoteRoutes;
  readonly #choice: ShareChoice;
  readonly #streams: StreamDeclarations | undefined;

  constructor(
    inner: Inner,
    own: OwnRoutes,
    remote: RemoteRoutes,
    choice: ShareChoice,
    streams: StreamDeclarations | undefined,
  ) {
    this.#inner = inner;
    this.#own = own;
    this.#remote = remote;
    this.#choice = choice;
    this.#streams = streams;
  }

  /** Subscriptions of the clients of this process. */
  get count(): number {
    return this.#inner.count;
  }

  get sharedCount(): number {
    return this.#inner.sharedCount;
  }

  put(
    session: SessionRef,
    subscriptions: readonly Subscription[],
    maximum: number,
  ): Awaitable<readonly SubscribeOutcome[]> {
    const outcomes = this.#inner.put(session, subscriptions, maximum);
    const told = this.#own.look(session.tenant, subscriptions);
    return told === undefined ? outcomes : told.then(() => outcomes);
  }

  remove(session: SessionRef, filters: readonly FilterName[]): Awaitable<readonly boolean[]> {
    const existed = this.#inner.remove(session, filters);
    void this.#own.look(session.tenant, filters);
    return existed;
  }

  clear(session: SessionRef): Awaitable<void> {
    const held = this.#inner.list(session);
    const cleared = this.#inner.clear(session);
    void this.#own.look(session.tenant, held);
    return cleared;
  }

  /** @param isPlaced the message has its place in a stream, and was matched before */
  match(tenant: string, topicName: string, isPlaced = false): readonly MatchedFilter[] {
    const local = this.#inner.match(tenant, topicName);
    const routes = this.#remote.match(tenant, topicName);
    if (routes.length === 0) return local;
    const isLook = !isPlaced && this.#streams?.covering(topicName) !== undefined;
    const matched = [...local];
    if (routes.some(({ plain }) => plain.size > 0)) matched.push(shardOf(EVERYWHERE));
    for (const { topicFilter, groups } of routes) {
      for (const [shareGroup, processes] of groups) {
        const name = { topicFilter, shareGroup };
        const index = matched.findIndex(
          (each) => each.shareGroup === shareGroup && each.topicFilter === topicFilter,
        );
        if (this.#choice.isHere(tenant, name, processes, matched[index]?.subscribers ?? NONE, isLook))
          continue;
        if (index >= 0) matched.splice(index, 1);
        matched.push(shardOf(groupedFilter(name)));
      }
    }
    return matched;
  }

  members(tenant: string, filter: FilterName): readonly Subscriber[] {
    return this.#inner.members(tenant, filter);
  }

  weight(session: SessionRef): number {
    return this.#inner.weight(session);
  }

  moved(): void {}

  list(session: SessionRef): readonly Subscription[] {
    return this.#inner.list(session);
  }
}

function shardOf(topicFilter: string): MatchedFilter {
  return { topicFilter, subscribers: NONE, shards: 1 };
}

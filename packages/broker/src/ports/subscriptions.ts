import type { Awaitable } from '../model/flow.ts';
import type { QuotaHolder } from '../model/quota-holder.ts';
import type {
  ConnectionId,
  FilterName,
  MatchedFilter,
  SessionRef,
  Subscriber,
  Subscription,
} from '../model/session.ts';

export type SubscribeOutcome = 'added' | 'replaced' | 'over-limit' | 'too-many-conditions';

export interface SubscriptionStore {
  /**
   * Stores subscriptions of one session, each atomically; one with the same filter (and share group) is replaced
   * [MQTT-3.8.4-3]. When this resolves every `match` finds them. A session holds at most `maximum`, counted by weight
   * (`subscriptionWeight`); further new filters are answered 'over-limit', and conditions beyond what a session or a
   * filter may have 'too-many-conditions', unless there is no maximum. Answers in the order of the argument.
   *
   * @param holder brings the shapes of the filters, of which a store may allow each holder a share
   */
  put(
    session: SessionRef,
    subscriptions: readonly Subscription[],
    maximum: number,
    holder?: QuotaHolder,
  ): Awaitable<readonly SubscribeOutcome[]>;

  /** Returns which of them existed, in the order of the argument. */
  remove(session: SessionRef, filters: readonly FilterName[]): Awaitable<readonly boolean[]>;

  /** Removes all subscriptions of this incarnation. */
  clear(session: SessionRef): Awaitable<void>;

  /**
   * The filters of the tenant that have subscribers and match the topic name, each once for each share group. A store
   * may leave out members of a share group that it would have to look up, but not the last connected one; and none
   * that is offline if no member is connected. `isAnew`: reads again, even if the store has read ahead.
   */
  match(tenant: string, topicName: string, isAnew?: boolean): Awaitable<readonly MatchedFilter[]>;

  /** The members of one shared subscription. */
  members(tenant: string, filter: FilterName): Awaitable<readonly Subscriber[]>;

  /**
   * A session that keeps nothing has moved from another connection to its present one: those of its `subscriptions`
   * that carry the former connection carry the latter from now on. If `from` is the present connection, its attachment
   * has changed.
   */
  moved(session: SessionRef, from: ConnectionId, subscriptions: readonly Subscription[]): Awaitable<void>;

  list(session: SessionRef): Awaitable<readonly Subscription[]>;
}

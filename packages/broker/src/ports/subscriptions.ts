import type { Awaitable } from '../flow.ts';
import type { ConnectionId, SessionRef, Subscriber, Subscription } from '../session.ts';

export type SubscribeOutcome = 'added' | 'replaced' | 'over-limit';

/** A filter that matches a topic name, with its subscribers. */
export interface MatchedFilter {
  readonly topicFilter: string;
  /** The share group: one of the subscribers gets the message. */
  readonly shareGroup?: string | undefined;
  /** Valid until the caller next waits for a port. */
  readonly subscribers: readonly Subscriber[];
  /** Further subscribers stand in this many shards, which `FanOut` serves. Absent: there are no others. */
  readonly shards?: number;
  /** The workers of these shards are far behind. */
  readonly isBehind?: boolean;
  /** Intervals of the filter's conflated groups (`ConflatedGroups`) that have no armed tick. @default none */
  readonly unarmedMs?: readonly number[];
}

export interface SubscriptionStore {
  /**
   * Stores subscriptions of one session, each atomically; one with the same filter (and share group) is replaced
   * [MQTT-3.8.4-3]. When this resolves every `match` finds them. A session holds at most `maximum`, counted by weight
   * (`subscriptionWeight`); further new filters are answered 'over-limit'. Answers in the order of the argument.
   */
  put(
    session: SessionRef,
    subscriptions: readonly Subscription[],
    maximum: number,
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

  /** The subscriptions of one session. */
  list(session: SessionRef): Awaitable<readonly Subscription[]>;
}

export interface FilterName {
  readonly topicFilter: string;
  readonly shareGroup?: string | undefined;
}

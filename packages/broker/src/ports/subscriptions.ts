import type { Awaitable } from '../flow.ts';
import type { ConnectionId, SessionRef, Subscriber, Subscription } from '../session.ts';

export type SubscribeOutcome = 'added' | 'replaced' | 'over-limit';

/** A filter that matches a topic name, with its subscribers. */
export interface MatchedFilter {
  readonly topicFilter: string;
  /** Set for a shared subscription: one of the subscribers gets the message. */
  readonly shareGroup?: string | undefined;
  /** Valid until the caller next waits for a port. */
  readonly subscribers: readonly Subscriber[];
  /** Further subscribers stand in this many shards, for `FanOut` to reach. Absent: there are no others. */
  readonly shards?: number;
  /** The workers of these shards are far behind. */
  readonly isBehind?: boolean;
  /** Intervals of its conflated groups (`ConflatedGroups`) for which no tick is armed. @default none */
  readonly unarmedMs?: readonly number[];
}

export interface SubscriptionStore {
  /**
   * Stores subscriptions of one session, each atomically; one with the same filter (and share group) is replaced
   * [MQTT-3.8.4-3]. After the answer every `match` finds them. A session holds at most `maximum`, each
   * counted by its weight (`subscriptionWeight`); further new filters are answered 'over-limit'. Answers in the order of the argument.
   */
  put(
    session: SessionRef,
    subscriptions: readonly Subscription[],
    maximum: number,
  ): Awaitable<readonly SubscribeOutcome[]>;

  /** Answers which of them existed, in the order of the argument. */
  remove(session: SessionRef, filters: readonly FilterName[]): Awaitable<readonly boolean[]>;

  /** Removes everything that this incarnation holds, and nothing of another. */
  clear(session: SessionRef): Awaitable<void>;

  /**
   * Every filter of the tenant that has subscribers and matches the topic name, each once for each share group. A store
   * may leave out members of a share group that it would have to look up, but not the last connected one; and if none
   * is connected, not those that are offline. `isAnew`: as it is from now on, where a store has read ahead.
   */
  match(tenant: string, topicName: string, isAnew?: boolean): Awaitable<readonly MatchedFilter[]>;

  /** The members of one shared subscription. */
  members(tenant: string, filter: FilterName): Awaitable<readonly Subscriber[]>;

  /**
   * The session, which keeps nothing, has moved from another connection to the one that it is attached to: those of its
   * subscriptions that carry the former carry the latter from now on. From its own connection: its attachment has changed.
   * `subscriptions` are all that it holds.
   */
  moved(session: SessionRef, from: ConnectionId, subscriptions: readonly Subscription[]): Awaitable<void>;

  /** The subscriptions of one session. */
  list(session: SessionRef): Awaitable<readonly Subscription[]>;
}

export interface FilterName {
  readonly topicFilter: string;
  readonly shareGroup?: string | undefined;
}

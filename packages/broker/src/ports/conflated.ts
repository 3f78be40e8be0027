import type { Awaitable } from '../flow.ts';

/** The subscribers of a filter that are sent the newest message of each topic once in an interval. */
export interface ConflatedGroup {
  readonly tenant: string;
  readonly topicFilter: string;
  readonly intervalMs: number;
}

/** The end of an interval. */
export interface ConflatedTick {
  /** The filter under which the store keeps the group's subscribers, all of them in shards. */
  readonly storedFilter: string;
  readonly shards: number;
  /** The workers of these shards are far behind. */
  readonly isBehind: boolean;
  /** An earlier tick has told the message in this position. */
  hasTold(topic: string, position: string): boolean;
  /**
   * The newest messages that the group has been told by now, by topic. Until the answer no message arms a tick: those
   * that got their place meanwhile have none.
   */
  done(told: ReadonlyMap<string, string>): Awaitable<void>;
}

/**
 * Ticks of conflated groups, for a door whose processes keep nothing between two calls. A subscription with
 * `conflateMs` is stored in its group, which `SubscriptionStore.match` names where no tick is armed.
 */
export interface ConflatedGroups {
  /** `Broker.tellConflated` is called so long from now. A message that has its place before this call is told then. */
  arm(group: ConflatedGroup, delayMs: number): Awaitable<void>;
  /**
   * The tick with this id has come. 'over' where it has nothing to tell: the group has no subscriber, or another tick
   * stands in its place. Throws while another process has the same one: it comes again, in case that process dies.
   */
  begin(group: ConflatedGroup, tickId: string): Awaitable<ConflatedTick | 'over'>;
}

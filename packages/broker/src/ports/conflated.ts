import type { Awaitable } from '../model/flow.ts';

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
  /** Whether an earlier tick has sent the group the message at this position. */
  hasTold(topic: string, position: string): boolean;
  /**
   * The tick has sent these positions, by topic. Until it says so no message arms the next tick.
   */
  done(told: ReadonlyMap<string, string>): Awaitable<void>;
}

/**
 * Ticks of conflated groups, for a door whose processes keep nothing between two calls. A subscription with
 * `conflateMs` is stored in its group, which `SubscriptionStore.match` names where no tick is armed.
 */
export interface ConflatedGroups {
  /**
   * Calls `Broker.tellConflated` after this delay. It tells the group every message that has its place before this
   * call.
   */
  arm(group: ConflatedGroup, delayMs: number): Awaitable<void>;
  /**
   * The tick with this id has come. 'over': it has nothing to tell, since the group has no subscriber, or another tick
   * has replaced it. Throws while another process works on the same tick: the tick comes again, in case that process
   * dies.
   */
  begin(group: ConflatedGroup, tickId: string): Awaitable<ConflatedTick | 'over'>;
}

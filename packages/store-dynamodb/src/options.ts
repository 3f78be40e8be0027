import type { Clock } from '@apus/broker';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { CompletedLimits } from './queue/completed.ts';
import type { HeldChange } from './quotas/held-change.ts';

export interface DynamoOptions {
  /** Give it `maxAttempts: 1`: the store retries by itself, and counts. */
  readonly client: Pick<DynamoDBClient, 'send'>;
  readonly tableName: string;
  /**
   * Another table of the same definition, for the items that the sweep scans every ten minutes: connections, sessions,
   * their records, and numbers. A scan is billed by the bytes that it reads, so messages do not belong in it.
   *
   * @default `tableName`: one table has all
   */
  readonly sessionsTableName?: string;
  /**
   * Another table of the same definition, for the history of streams: the sweep leaves it out, TTL alone empties it.
   *
   * @default `tableName`
   */
  readonly streamsTableName?: string;
  /** @default the wall clock */
  readonly clock?: Clock;
  /** @default setTimeout */
  readonly sleep?: (ms: number) => Promise<void>;
  /** From 0 to 1. @default Math.random */
  readonly random?: () => number;
  /** Unique for all practical purposes. @default 96 random bits */
  readonly randomId?: () => string;
  /**
   * A queued message is deleted after this time, even if its session lives longer; keep it above the longest session
   * expiry. @default 14 days, twice the broker's `sessionExpirySecondsMax`
   */
  readonly queueSecondsMax?: number;
  /**
   * How long the deduplication record of a QoS 2 message lasts: until then a repeated fan-out is recognized. Above the
   * longest session expiry, as a publisher may come back and send a message again for which it got no answer; and above
   * the time for which a queue keeps its jobs. @default 7 days, the broker's `sessionExpirySecondsMax`
   */
  readonly repeatSecondsMax?: number;
  /** A put that is older than a delete, and comes after it, is refused for this long. @default 600 */
  readonly retainedTombstoneSeconds?: number;
  /**
   * How long a network connection can live, where the door knows. A subscription of a session that ends with its
   * connection is ignored after it, should a crash have left it behind. @default undefined: for ever
   */
  readonly connectionSecondsMax?: number;
  /**
   * The source of the consumed read units: the service's answer, or the sizes of the items read, for an emulator that
   * answers none or a wrong number. @default 'service'
   */
  readonly readUnitsFrom?: 'service' | 'sizes';
  /**
   * 'read': `match` reads the shards of wide filters. 'leave': it counts them (`MatchedFilter.shards`), for a door with
   * workers that read them by `readShard`. @default 'read'
   */
  readonly shards?: 'read' | 'leave';
  /**
   * Told of each connection and session that begins or ends, by the call that makes it so; `open`, `detach` and `remove` wait
   * for it. @default they are not counted
   */
  readonly onHeld?: (change: HeldChange) => Promise<void>;
  /** A publisher that took a place in a window posts no more after this time, in ms. @default 0: it has posted */
  readonly postsWithinMs?: number;
  /** Subscribers that stand in a filter's head. @default INLINE_SUBSCRIBERS_MAX */
  readonly inlineSubscribersMax?: number;
  /** Names of completed QoS 2 copies in a session's record. @default COMPLETED_LIMITS */
  readonly completed?: CompletedLimits;
  /** Subscribers of a shard. @default SHARD_SUBSCRIBERS */
  readonly shardSubscribers?: number;
}

/** The options with their defaults filled in. */
export type Settings = Required<Omit<DynamoOptions, Optional>> & Pick<DynamoOptions, Optional>;

type Optional = 'connectionSecondsMax' | 'onHeld';

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
   * records, and numbers. A scan is billed by the bytes that it reads, so messages do not belong there.
   *
   * @default `tableName`: one table for everything
   */
  readonly sessionsTableName?: string;
  /**
   * Another table of the same definition, for streams and rooms. The sweep does not scan it; only TTL deletes from it.
   *
   * @default `tableName`
   */
  readonly streamsTableName?: string;
  /** @default the clocks of the machine */
  readonly clock?: Clock;
  /** @default setTimeout */
  readonly sleep?: (ms: number) => Promise<void>;
  /** From 0 to 1. @default Math.random */
  readonly random?: () => number;
  /** Unique for all practical purposes. @default 96 random bits */
  readonly randomId?: () => string;
  /**
   * A queued message is deleted after this time, even if its session lives longer: keep it above the longest session
   * expiry. @default 14 days, twice the broker's `sessionExpirySecondsMax`
   */
  readonly queueSecondsMax?: number;
  /**
   * How long the deduplication record of a QoS 2 message is kept: until then a repeated fan-out is recognized. Keep it
   * above the longest session expiry, since a publisher may come back and repeat a message without an answer, and
   * above the retention of the jobs' queue. @default 7 days, the broker's `sessionExpirySecondsMax`
   */
  readonly repeatSecondsMax?: number;
  /** For how long a put with an older id than a delete is refused. @default 600 */
  readonly retainedTombstoneSeconds?: number;
  /**
   * How long a network connection can live. Entries of a session that ends with its connection are ignored after that,
   * if a crash has left them. @default undefined: for ever
   */
  readonly connectionSecondsMax?: number;
  /**
   * Where the consumed read units come from: the service's answer, or the sizes of the items, for an emulator that
   * answers none or wrong ones. @default 'service'
   */
  readonly readUnitsFrom?: 'service' | 'sizes';
  /**
   * 'read': `match` reads the shards of wide filters. 'leave': it only counts them (`MatchedFilter.shards`), for a
   * door whose workers call `readShard`. @default 'read'
   */
  readonly shards?: 'read' | 'leave';
  /**
   * Called for each connection and session that begins or ends. `open`, `detach` and `remove` wait for it. @default
   * they are not counted
   */
  readonly onHeld?: (change: HeldChange) => Promise<void>;
  /** How long a publisher that took a place may still post, in ms. @default 0: it has posted */
  readonly postsWithinMs?: number;
  /** Subscribers in a filter's head. @default INLINE_SUBSCRIBERS_MAX */
  readonly inlineSubscribersMax?: number;
  /** Names of completed QoS 2 copies in a session's record. @default COMPLETED_LIMITS */
  readonly completed?: CompletedLimits;
  /** Subscribers of a shard. @default SHARD_SUBSCRIBERS */
  readonly shardSubscribers?: number;
}

/** The options with their defaults filled in. */
export type Settings = Required<Omit<DynamoOptions, Optional>> & Pick<DynamoOptions, Optional>;

type Optional = 'connectionSecondsMax' | 'onHeld';

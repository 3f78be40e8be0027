import type { Clock } from '@apus/broker';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { HeldChange } from './quotas/held-change.ts';

export interface DynamoOptions {
  /** Give it `maxAttempts: 1`: the store retries by itself, and counts. */
  readonly client: Pick<DynamoDBClient, 'send'>;
  readonly tableName: string;
  /** @default the wall clock */
  readonly clock?: Clock;
  /** @default setTimeout */
  readonly sleep?: (ms: number) => Promise<void>;
  /** From 0 to 1. @default Math.random */
  readonly random?: () => number;
  /** Unique for all practical purposes. @default 96 random bits */
  readonly randomId?: () => string;
  /**
   * A queued message is forgotten after this time, whatever its session's expiry; keep it above the longest session
   * expiry. @default 14 days, twice the broker's `sessionExpirySecondsMax`
   */
  readonly queueSecondsMax?: number;
  /**
   * How long after a QoS 2 message was taken its fan-out may be repeated, and is known again. Above the longest session
   * expiry, as a publisher that is away may come back and send again what it had no answer to; and above the time for
   * which a queue keeps its jobs. @default 7 days, the broker's `sessionExpirySecondsMax`
   */
  readonly repeatSecondsMax?: number;
  /** A put that is older than a delete, and comes after it, is refused for so long. @default 600 */
  readonly retainedTombstoneSeconds?: number;
  /**
   * How long a network connection can live, where the door knows. A subscription of a session that ends with its
   * connection is ignored after it, should a crash have left it behind. @default undefined: for ever
   */
  readonly connectionSecondsMax?: number;
  /**
   * Where the consumed read units are taken from: what the service says, or the sizes of the items read, for an
   * emulator that says nothing or the wrong number. @default 'service'
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
  /** After so long a publisher that has taken a place in a window posts no more, in ms. @default 0: it has posted */
  readonly postsWithinMs?: number;
  /** Subscribers that stand in a filter's head. @default INLINE_SUBSCRIBERS_MAX */
  readonly inlineSubscribersMax?: number;
  /** Subscribers of a shard. @default SHARD_SUBSCRIBERS */
  readonly shardSubscribers?: number;
}

/** The options with their defaults filled in. */
export type Settings = Required<Omit<DynamoOptions, Optional>> & Pick<DynamoOptions, Optional>;

type Optional = 'connectionSecondsMax' | 'onHeld';

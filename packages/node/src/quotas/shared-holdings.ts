import type { Awaitable } from '@apus/broker';
import type { HeldKind } from '@apus/store-memory';

/** Room that a client needs at a holder, which may have so many together. */
export interface HoldingAsk {
  /** Of the holder: `quotaHolderKey` or `tenantHoldingKey`. */
  readonly key: string;
  readonly kind: HeldKind;
  readonly by: number;
  readonly max: number;
}

/** Counts of what holders have at all processes that share them. */
export interface SharedHoldings {
  /**
   * Takes all the room that is asked for, until `release` gives it back; the counts of the stores include it then, or it is free.
   * Answers the index of the first ask for which there is none, and takes nothing; -1 when it is taken.
   */
  reserve(asks: readonly HoldingAsk[]): Awaitable<number>;
  release(asks: readonly HoldingAsk[]): void;
  /** Takes as much of the room as there is, for what is counted before the caller waits again. */
  reach(asks: readonly HoldingAsk[]): Awaitable<void>;
  /** How much more this process may count for the holder. */
  room(key: string, kind: HeldKind): number;
}

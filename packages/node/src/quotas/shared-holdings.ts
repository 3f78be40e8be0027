import type { Awaitable, Reservation } from '@apus/broker';
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
  /** Takes all the room that is asked for; or nothing, and answers the first ask for which there is too little. */
  reserve(asks: readonly HoldingAsk[]): Awaitable<Reservation | HoldingAsk>;
  /** How much more this process may count for the holder. */
  room(key: string, kind: HeldKind): number;
}

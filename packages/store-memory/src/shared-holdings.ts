import type { Awaitable, Reservation } from '@apus/broker';
import type { HeldKind } from './holdings.ts';

/** How much room a client needs at a holder, and how much the holder may have. */
export interface HoldingAsk {
  /** The holder: `quotaHolderKey` or `tenantHoldingKey`. */
  readonly key: string;
  readonly kind: HeldKind;
  readonly by: number;
  readonly max: number;
}

/** Counts of what holders have at all processes. */
export interface SharedHoldings {
  /** Reserves everything that is asked for; or nothing, and returns the first ask without enough room. */
  reserve(asks: readonly HoldingAsk[]): Awaitable<Reservation | HoldingAsk>;
  /** How much more this process may count for the holder. */
  room(key: string, kind: HeldKind): number;
}

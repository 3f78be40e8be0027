import type { Awaitable } from '../flow.ts';
import type { Identity } from './authentication.ts';
import type { WideFilter } from './fan-out.ts';

/** Who is charged for a message: a client, by its identity or, where that has no name, by its client identifier. */
export interface Publisher {
  readonly identity: Pick<Identity, 'tenant' | 'name'>;
  readonly clientId: string;
}

/** Bounds what one publisher may cause. */
export interface DeliveryQuota {
  /**
   * Charges a message to its publisher: for each of `deliveries`, and for everybody in the shards of `wide`. False when
   * the publisher's deliveries are used up for now: then the message goes to nobody.
   */
  take(publisher: Publisher, deliveries: number, wide: readonly WideFilter[]): Awaitable<boolean>;
}

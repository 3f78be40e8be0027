import type { Awaitable } from '../flow.ts';
import type { Identity } from './authentication.ts';
import type { WideFilter } from './fan-out.ts';

/** The client that is charged for a message, as `quotaHolderOf` says. */
export interface Publisher {
  readonly identity: Pick<Identity, 'tenant' | 'name' | 'address' | 'quotas' | 'plan'>;
  readonly clientId: string;
}

/** Bounds the deliveries of one publisher. */
export interface DeliveryQuota {
  /**
   * Charges a message to its publisher: for each of `deliveries`, and for every subscriber in the shards of `wide`.
   * False when the publisher's deliveries are used up for now: then the message is not delivered.
   */
  take(publisher: Publisher, deliveries: number, wide: readonly WideFilter[]): Awaitable<boolean>;
}

/** Bounds the writes of one client to a store that is billed by the write. */
export interface WriteQuota {
  /**
   * Charges a client: a write for each filter of a SUBSCRIBE or UNSUBSCRIBE, and for each kilobyte begun of a message
   * that is to be retained. False when its writes are used up for now: then nothing is written.
   */
  take(client: Publisher, writes: number): Awaitable<boolean>;
}

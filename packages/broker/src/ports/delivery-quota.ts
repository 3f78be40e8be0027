import type { Awaitable } from '../flow.ts';
import type { Identity } from './authentication.ts';
import type { WideFilter } from './fan-out.ts';

/** The client that is charged for a message: see `quotaHolderOf`. */
export interface Publisher {
  readonly identity: Pick<Identity, 'tenant' | 'name' | 'address' | 'quotas' | 'plan'>;
  readonly clientId: string;
}

/** The publisher of a message, for another process that delivers it too and does not know its quotas. */
export interface DeliveryPayer {
  /** The `quotaHolderKey`. Undefined: other processes do not charge the identity. */
  readonly holder: string | undefined;
  /** The cost of one delivery to the identity's account, in milliseconds; the next field has the tenant's. */
  readonly identityMs: number;
  readonly tenantMs: number;
  /** How much of a delivery the publisher has paid for in advance at the process that charges this payer: 0 to 1. */
  readonly paid: number;
}

/** Bounds the deliveries of one publisher. */
export interface DeliveryQuota {
  /**
   * Charges the publisher of a message: for `deliveries`, and for every subscriber in the shards of `wide`. False when
   * its quota is used up for now: then the message is not delivered.
   */
  take(publisher: Publisher, deliveries: number, wide: readonly WideFilter[]): Awaitable<boolean>;
  /**
   * For a message that other processes deliver as well. Undefined if no quota limits its deliveries.
   * @default no other process delivers
   */
  payerOf?(publisher: Publisher): DeliveryPayer | undefined;
  /**
   * Charges the publisher of a message that another process has accepted for the deliveries of this one, less the part
   * that it has paid.
   */
  charge?(tenant: string, payer: DeliveryPayer, deliveries: number): void;
}

/** Limits the writes of one client to a store that is billed by the write. */
export interface WriteQuota {
  /**
   * Charges a client: one write for each filter of a SUBSCRIBE or UNSUBSCRIBE, and one for each kilobyte begun of a
   * message to be retained. False when its quota is used up for now: then nothing is written.
   */
  take(client: Publisher, writes: number): Awaitable<boolean>;
}

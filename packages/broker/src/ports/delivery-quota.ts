import type { Awaitable } from '../flow.ts';
import type { Identity } from './authentication.ts';
import type { WideFilter } from './fan-out.ts';

/** The client that is charged for a message, as `quotaHolderOf` says. */
export interface Publisher {
  readonly identity: Pick<Identity, 'tenant' | 'name' | 'address' | 'quotas' | 'plan'>;
  readonly clientId: string;
}

/** The publisher of a message, for another process that delivers it as well and does not know its quotas. */
export interface DeliveryPayer {
  /** Its `quotaHolderKey`. Undefined: no other process charges its identity. */
  readonly holder: string | undefined;
  /** The time of the account of its identity, and of its tenant, that a delivery costs. */
  readonly identityMs: number;
  readonly tenantMs: number;
}

/** Bounds the deliveries of one publisher. */
export interface DeliveryQuota {
  /**
   * Charges a message to its publisher: for each of `deliveries`, and for every subscriber in the shards of `wide`.
   * False when the publisher's deliveries are used up for now: then the message is not delivered.
   */
  take(publisher: Publisher, deliveries: number, wide: readonly WideFilter[]): Awaitable<boolean>;
  /**
   * For a message that other processes deliver as well. Undefined where no quota bounds its deliveries.
   * @default no other process delivers
   */
  payerOf?(publisher: Publisher): DeliveryPayer | undefined;
  /** Charges the publisher of a message that another process has accepted for the deliveries of this one. */
  charge?(tenant: string, payer: DeliveryPayer, deliveries: number): void;
}

/** Bounds the writes of one client to a store that is billed by the write. */
export interface WriteQuota {
  /**
   * Charges a client: a write for each filter of a SUBSCRIBE or UNSUBSCRIBE, and for each kilobyte begun of a message
   * that is to be retained. False when its writes are used up for now: then nothing is written.
   */
  take(client: Publisher, writes: number): Awaitable<boolean>;
}

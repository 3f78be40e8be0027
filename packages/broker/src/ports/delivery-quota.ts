import type { Awaitable } from '../model/flow.ts';
import type { Publisher } from '../model/identity.ts';
import type { DeliveryPayer } from '../model/quota-holder.ts';

import type { WideFilter } from './fan-out.ts';

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

/** Limits what one client writes to a store that is billed by use, and has it read. */
export interface WriteQuota {
  /**
   * Charges a client: one write for each filter of a SUBSCRIBE or UNSUBSCRIBE, and one for each kilobyte begun of a
   * message to be retained. False when its quota is used up for now: then nothing is written.
   */
  take(client: Publisher, writes: number): Awaitable<boolean>;
  /**
   * Charges a client for the read units of retained messages and of streams' history, after they were read: five for
   * each write that its quota allows. False when nothing more may be read for it now. @default any number
   */
  takeReads?(client: Publisher, units: number): Awaitable<boolean>;
  /** Whether this process knows that `takeReads` would refuse now. @default it does not */
  hasReadAll?(client: Publisher): boolean;
}

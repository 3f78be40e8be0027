import type { Awaitable } from '../model/flow.ts';
import type { Publisher } from '../model/identity.ts';
import type { RetainedHolder } from '../model/quota-holder.ts';
import type { SessionRef } from '../model/session.ts';

/** The quota that has no room for one more. */
export interface ExceededHolding {
  readonly of: 'connections' | 'sessions';
  readonly scope: 'identity' | 'tenant';
}

/** Room that is reserved for a client, where several processes count together. */
export interface Reservation {
  /**
   * Called in the turn in which a store counts the reserved thing, or when nothing comes of it. A second call does
   * nothing.
   */
  release(): void;
}

/** Limits what the clients of one identity, and of one tenant, hold at a time: connections, sessions, subscriptions. */
export interface HoldingQuota {
  /**
   * Asked before a client's session is opened. Returns the quota that has no room for another connection or session;
   * or the reserved room; or undefined if nothing has to be reserved.
   */
  reserve(client: Publisher): Awaitable<ExceededHolding | Reservation | undefined>;
  /**
   * Asked before `subscriptionsMax`, if subscriptions of this weight are to be stored: reserves room for all of them.
   * Undefined: there is less room, or none has to be reserved.
   *
   * @default this process counts alone
   */
  reserveSubscriptions?(client: Publisher, weight: number): Awaitable<Reservation | undefined>;
  /**
   * How many subscriptions, by weight, the session may hold beside the others of its identity and tenant; `maximum` if
   * no quota is tighter. Valid until the caller waits for a port.
   */
  subscriptionsMax(client: Publisher, session: SessionRef, maximum: number): number;
  /** The holder for whom a message of this client is retained, and how much it may retain. */
  retainedHolder(client: Publisher): RetainedHolder;
}

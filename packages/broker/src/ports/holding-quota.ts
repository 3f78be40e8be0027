import type { Awaitable } from '../flow.ts';
import type { SessionRef } from '../session.ts';
import type { Publisher } from './delivery-quota.ts';
import type { RetainedHolder } from './retained.ts';

/** A quota that has no room for one more. */
export interface ExceededHolding {
  readonly of: 'connections' | 'sessions';
  readonly scope: 'identity' | 'tenant';
}

/** Bounds what clients of one identity, and of one tenant, hold. All of it is free again when they let it go. */
export interface HoldingQuota {
  /**
   * Asked before a client's session is opened: the holding that has no room for a further connection, or session, of
   * the client.
   */
  exceededBy(client: Publisher): Awaitable<ExceededHolding | undefined>;
  /**
   * Called once behind each `exceededBy` that has found room: the session is about to be counted, or was not opened. Room that was
   * kept for the client is free again.
   *
   * @default nothing is kept
   */
  opened?(client: Publisher): void;
  /**
   * Awaited before `subscriptionsMax` where subscriptions of so much weight are to be stored: processes that count together take
   * room for them.
   *
   * @default the counts are of this process
   */
  reserveSubscriptions?(client: Publisher, weight: number): Awaitable<void>;
  /**
   * As many subscriptions, counted by weight, as this session may hold together with the others of its identity and
   * tenant; `maximum` where no quota is tighter. Valid until the caller next waits for a port.
   */
  subscriptionsMax(client: Publisher, session: SessionRef, maximum: number): number;
  /** In whose name a message of this client is retained, and how much may be. */
  retainedHolder(client: Publisher): RetainedHolder;
}

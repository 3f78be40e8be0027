import type { Awaitable } from '../flow.ts';
import type { SessionRef } from '../session.ts';
import type { Publisher } from './delivery-quota.ts';
import type { RetainedHolder } from './retained.ts';

/** A quota that has no room for one more. */
export interface ExceededHolding {
  readonly of: 'connections' | 'sessions';
  readonly scope: 'identity' | 'tenant';
}

/** Room that is kept for a client, in the counts of processes that count together. */
export interface Reservation {
  /**
   * To be called in the turn in which a store counts what the room is for, or when nothing comes of it. A second call does nothing.
   */
  release(): void;
}

/** Bounds what clients of one identity, and of one tenant, hold. All of it is free again when they let it go. */
export interface HoldingQuota {
  /**
   * Asked before a client's session is opened: the holding that has no room for a further connection, or session, of
   * the client; otherwise the room for them, undefined where none has to be kept.
   */
  reserve(client: Publisher): Awaitable<ExceededHolding | Reservation | undefined>;
  /**
   * Asked before `subscriptionsMax` where subscriptions of so much weight are to be stored: room for all of them. Undefined: there
   * is less, or none has to be kept.
   *
   * @default the counts are of this process
   */
  reserveSubscriptions?(client: Publisher, weight: number): Awaitable<Reservation | undefined>;
  /**
   * As many subscriptions, counted by weight, as this session may hold together with the others of its identity and
   * tenant; `maximum` where no quota is tighter. Valid until the caller next waits for a port.
   */
  subscriptionsMax(client: Publisher, session: SessionRef, maximum: number): number;
  /** In whose name a message of this client is retained, and how much may be. */
  retainedHolder(client: Publisher): RetainedHolder;
}

import type { Will } from '@apus/mqtt';
import type { Awaitable } from '../flow.ts';
import type { Attachment, ConnectionId, SessionRef } from '../session.ts';
import type { Identity } from './authentication.ts';

/** Session Expiry Interval that means "never" (section 3.1.2.11.2). */
export const NEVER_EXPIRES = 0xffff_ffff;

/** A session as it stands in the store. */
export interface SessionRecord {
  readonly session: SessionRef;
  /** The connection at the moment of the call: a snapshot, where `session.attachment` may be live. */
  readonly attachment: Attachment | undefined;
  readonly expirySeconds: number;
  readonly identity: Identity;
  /** The will of the connection, or of the last one while its delay runs. */
  readonly will: Will | undefined;
  /** When the last connection ended, in ms since the epoch; undefined while there is one. */
  readonly detachedAtMs: number | undefined;
}

export interface OpenSession {
  readonly tenant: string;
  readonly clientId: string;
  readonly cleanStart: boolean;
  readonly expirySeconds: number;
  readonly attachment: Attachment;
  readonly identity: Identity;
  readonly will: Will | undefined;
  readonly nowMs: number;
}

export interface OpenedSession {
  readonly session: SessionRef;
  /** The session continues: its subscriptions and messages are still there. */
  readonly present: boolean;
  /**
   * What stood there before, as it was before this call: connected (its connection has been taken over), waiting
   * for its client, or past its expiry and not yet removed.
   */
  readonly previous: SessionRecord | undefined;
}

/**
 * Sessions and who owns them. Each call is one atomic decision: two CONNECTs with one client identifier get an
 * order, and the second finds the first in `previous`.
 */
export interface SessionStore {
  /**
   * Makes `attachment` the connection of the session. The session continues when `cleanStart` is false and one is
   * there that outlives its connection (expiry above 0) and has not expired; otherwise it begins as a new incarnation
   * in the place of the previous one, and what that one owns in the other ports is for the caller to clear.
   * A session expires when its last connection ended `expirySeconds` ago, to the millisecond; NEVER_EXPIRES does not.
   *
   * From this call on the window of a session that continues is empty and all that was inflight has to be sent again,
   * before anything new: see `QueueStore.next`.
   *
   * Expiry, identity and will become the request's either way. A will that stood there is handed over in `previous`:
   * it is the caller's to publish or to discard, and `takeWill` does not find it any more.
   */
  open(request: OpenSession): Awaitable<OpenedSession>;

  get(tenant: string, clientId: string): Awaitable<SessionRecord | undefined>;

  /**
   * The connection has ended. `expirySeconds` replaces the session's. Answers the record as it then stands, still
   * with its will; undefined when the connection no longer owns the session: it was taken over, or this call was
   * made before.
   */
  detach(
    session: SessionRef,
    connectionId: ConnectionId,
    expirySeconds: number,
    nowMs: number,
  ): Awaitable<SessionRecord | undefined>;

  /**
   * Takes the will away, so that exactly one caller publishes or discards it. Only a will that the given connection
   * brought is taken; undefined when there is none (any more).
   */
  takeWill(session: SessionRef, connectionId: ConnectionId): Awaitable<Will | undefined>;

  /**
   * Forgets an incarnation: the record and its will, unless a newer incarnation stands there or it has a connection.
   * With `lastConnectionId` it is also left alone when another connection has been there since that one.
   * Whether its time has come is the caller's to know. Returns false when there was nothing to forget. What the
   * session owns in the other ports is removed by the caller, before or after.
   */
  remove(session: SessionRef, lastConnectionId?: ConnectionId): Awaitable<boolean>;

  /** Sessions in the store, connected or not; for the limit on their number. Need not be exact in the cloud. */
  count(): Awaitable<number>;
}

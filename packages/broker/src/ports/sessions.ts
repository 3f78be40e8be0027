import type { Will } from '@apus/mqtt';
import type { BindingRank } from '../model/client-ids.ts';
import type { Awaitable } from '../model/flow.ts';
import type { Identity } from '../model/identity.ts';
import type { MessageId } from '../model/message.ts';
import type { Attachment, ConnectionId, SessionRef } from '../model/session.ts';

import type { Reservation } from './holding-quota.ts';
import type { PresencePlace } from './presence.ts';

/** Session Expiry Interval that means "never" (section 3.1.2.11.2). */
export const NEVER_EXPIRES = 0xffff_ffff;

/** A session as the store has it. */
export interface SessionRecord {
  readonly session: SessionRef;
  /** The connection at the moment of the call: a snapshot, where `session.attachment` may be live. */
  readonly attachment: Attachment | undefined;
  /** The present connection, or the last one. It has brought the will. */
  readonly lastConnectionId: ConnectionId;
  /** When that connection began, in ms since the epoch. */
  readonly attachedAtMs: number;
  readonly expirySeconds: number;
  /** The owner. */
  readonly identity: Identity;
  readonly bindingRank: BindingRank;
  /** The will of that connection, until it has been published or discarded. */
  readonly will: Will | undefined;
  /** Set when the connection has ended and left its will. */
  readonly willDue: WillDue | undefined;
  /** When the connection ended, in ms since the epoch. Undefined: it is there. */
  readonly detachedAtMs: number | undefined;
  /** The session may make members of rooms present. Undefined: `PresenceStore.ownedBy` tells. */
  readonly hasRooms?: boolean | undefined;
  /** These members, if they were read with the record. */
  readonly rooms?: readonly PresencePlace[] | undefined;
  /** See `DetachSession`. */
  readonly resumableUntilMs?: number | undefined;
  /** See `SessionStore.noteReplays`. @default none */
  readonly replays?: readonly string[] | undefined;
}

/** When the will of an ended connection is published. */
export interface WillDue {
  /** In ms since the epoch. */
  readonly atMs: number;
  /** A client that comes back earlier withdraws the will even if its session does not continue. */
  readonly isWithdrawnByReturn: boolean;
}

export interface OpenSession {
  readonly tenant: string;
  readonly clientId: string;
  readonly cleanStart: boolean;
  readonly expirySeconds: number;
  readonly attachment: Attachment;
  /** The owner, from now on. */
  readonly identity: Identity;
  /** How firmly the client identifier is bound to that identity. */
  readonly bindingRank: BindingRank;
  readonly will: Will | undefined;
  readonly nowMs: number;
  /**
   * The client resumes this incarnation without a CONNECT, if its last connection was `from`; otherwise the answer is
   * 'owned-by-another'. @default a CONNECT
   */
  readonly resumes?: { readonly incarnation: string; readonly from: ConnectionId } | undefined;
  /**
   * Decides on a will that stands where the session is opened: true if it is published now, false if the return of the
   * client withdraws it. `present`: the session continues. `nowMs`: by the clock of the store. `open` may call this more
   * than once, so it has no effects.
   */
  isWillOwed(previous: SessionRecord, present: boolean, nowMs: number): boolean;
  /**
   * Reserved room. A store that waits before it counts the session releases it in the turn in which it counts.
   * @default none is reserved
   */
  readonly reservation?: Reservation | undefined;
}

export interface OpenedSession {
  readonly session: SessionRef;
  /** The session continues: its subscriptions and messages are still there. */
  readonly present: boolean;
  /**
   * The session as it was before this call: connected (its connection has been taken over), waiting for its client, or
   * expired and not yet removed.
   */
  readonly previous: SessionRecord | undefined;
  /**
   * The connection whose will the caller has to publish now. The will is owed until `doneWill`, even if the caller
   * dies or the session ends: `beginWill` returns it.
   */
  readonly owedWillOf: ConnectionId | undefined;
}

export interface DetachSession {
  readonly session: SessionRef;
  readonly connectionId: ConnectionId;
  /** Replaces the expiry of the session. */
  readonly expirySeconds: number;
  /** When the connection ended, in ms since the epoch. */
  readonly nowMs: number;
  /**
   * The client may resume the session until then although it has expired: no CONNECT finds it, but
   * `OpenSession.resumes` does. In ms since the epoch.
   */
  readonly resumableUntilMs?: number | undefined;
  /** When the will of the connection is due, or that it is discarded. Undefined: the connection brought no will. */
  readonly will: WillDue | 'discarded' | undefined;
}

/** A session that ends with its connection and leaves no will. */
export type EndSession = Pick<DetachSession, 'session' | 'connectionId' | 'nowMs'>;

/** The answer of `SessionStore.end`. */
export type SessionEnd = 'ended' | 'owes-more' | 'not-owned';

/** A session moves from one connection to another. */
export interface SessionMove {
  readonly from: ConnectionId;
  readonly nowMs: number;
}

/** The outcome of `beginWill`. */
export type WillClaim =
  | {
      readonly state: 'begun';
      readonly will: Will;
      /** The identity of the connection that brought the will. */
      readonly identity: Identity;
      /** The id that the first call has given. */
      readonly messageId: MessageId;
      /** An earlier call has begun the will: some recipients may have it. */
      readonly isRepeat: boolean;
    }
  | { readonly state: 'not-due'; readonly dueAtMs: number }
  /** The connection is there or brought no will; or the will has been published, withdrawn or discarded. */
  | { readonly state: 'none' };

/**
 * Sessions and their owners. Each call is one atomic decision: two CONNECTs with one client identifier have an order,
 * and the second one finds the first in `previous`.
 */
export interface SessionStore {
  /**
   * Makes `attachment` the connection of the session. The session continues if `cleanStart` is false and a session
   * exists that outlives its connection (expiry above 0) and has not expired. Otherwise a new incarnation replaces it,
   * and the caller deletes what the old one has in the other ports.
   *
   * A session that has a connection, or outlives the last one, belongs to the name of its identity. For another name
   * the answer is 'owned-by-another', and nothing is changed, unless the request's `bindingRank` is above the
   * session's: then the session ends as with `cleanStart`. A record without a rank belongs to no name and does not
   * continue.
   *
   * A session expires when its last connection ended `expirySeconds` ago, to the millisecond; NEVER_EXPIRES does not.
   *
   * A session that continues keeps its noted replays; they are in `previous`.
   *
   * In a session that continues, the window is empty from this call on, and everything inflight has to be sent again
   * before anything new: see `QueueStore.next`.
   *
   * Expiry, identity and will are replaced by the request's. An earlier will that has been begun is owed; for another
   * one the request decides.
   */
  open(request: OpenSession): Awaitable<OpenedSession | 'owned-by-another'>;

  get(tenant: string, clientId: string): Awaitable<SessionRecord | undefined>;

  /**
   * The connection has ended. Returns the record as it then stands. Undefined, and nothing changed, when the
   * connection no longer owns the session: it was taken over, or an earlier call has detached it.
   */
  detach(request: DetachSession): Awaitable<SessionRecord | undefined>;

  /**
   * The connection has ended, and its session ends with it; the client has withdrawn its will, if it brought one.
   * `detach` and `remove` as one decision. 'owes-more', and nothing changed: a will of an earlier connection stands,
   * or the store keeps rooms with the session and it is in one. 'not-owned': as where `detach` returns undefined. The
   * caller deletes the session's state in the other ports.
   */
  end(request: EndSession): Awaitable<SessionEnd>;

  /**
   * The client has re-authenticated: replaces identity and attachment of its connection. Undefined, and nothing
   * changed, when the connection no longer owns the session.
   *
   * With `move` the client goes on over the connection of `attachment`, which gets the session and its will. The
   * window stays as it is. A repeated call changes nothing and returns the same.
   */
  renew(
    session: SessionRef,
    attachment: Attachment,
    identity: Identity,
    move?: SessionMove,
  ): Awaitable<SessionRef | undefined>;

  /**
   * Notes the topic filters of subscriptions whose retained messages have not all been sent, in the place of those
   * noted before: the session's next connection sends them. Does nothing when `connectionId` is not the session's last
   * connection.
   */
  noteReplays(
    session: SessionRef,
    connectionId: ConnectionId,
    topicFilters: readonly string[],
  ): Awaitable<void>;

  /**
   * The will of this ended connection is about to be published as the message `messageId`. It stands until `doneWill`.
   * A repeated call returns the same will under the first message id, so a publication that may have been cut off is
   * repeated, and queues recognize it.
   */
  beginWill(
    session: SessionRef,
    connectionId: ConnectionId,
    messageId: MessageId,
    nowMs: number,
  ): Awaitable<WillClaim>;

  /** The will has been handed to its recipients. Does nothing when it was not begun, or is done. */
  doneWill(session: SessionRef, connectionId: ConnectionId): Awaitable<void>;

  /** The client has sent DISCONNECT: deletes its will, unless it has been begun. */
  discardWill(session: SessionRef, connectionId: ConnectionId): Awaitable<void>;

  /**
   * Deletes an incarnation with its will, unless it has a connection, or a newer incarnation has replaced it. A will
   * that is begun or owed stays until `doneWill`. With `lastConnectionId` the incarnation stays as well if another
   * connection has come after that one. The caller has decided that its time has come, and deletes its state in the
   * other ports, before or after. Returns false when there was nothing to delete. `hasRooms` is a hint: the caller has
   * read that the session makes members of rooms present.
   */
  remove(session: SessionRef, lastConnectionId?: ConnectionId, hasRooms?: boolean): Awaitable<boolean>;

  /** Sessions in the store, connected or not, for the limit on their number. Need not be exact in the cloud. */
  count(): Awaitable<number>;
}

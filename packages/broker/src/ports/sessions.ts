import type { Will } from '@apus/mqtt';
import type { BindingRank } from '../client-ids.ts';
import type { Awaitable } from '../flow.ts';
import type { MessageId } from '../message.ts';
import type { Attachment, ConnectionId, SessionRef } from '../session.ts';
import type { Identity } from './authentication.ts';
import type { Reservation } from './holding-quota.ts';
import type { PresencePlace } from './presence.ts';

/** Session Expiry Interval that means "never" (section 3.1.2.11.2). */
export const NEVER_EXPIRES = 0xffff_ffff;

/** A session as it stands in the store. */
export interface SessionRecord {
  readonly session: SessionRef;
  /** The connection at the moment of the call: a snapshot, where `session.attachment` may be live. */
  readonly attachment: Attachment | undefined;
  /** The connection of now, or the last one: it brought the will. */
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
  /** When the connection ended, in ms since the epoch; undefined while it is there. */
  readonly detachedAtMs: number | undefined;
  /** It may make members of rooms present. Undefined: `PresenceStore.ownedBy` knows. */
  readonly hasRooms?: boolean | undefined;
  /** These members, where they were read with the record. */
  readonly rooms?: readonly PresencePlace[] | undefined;
  /** See `DetachSession`. */
  readonly resumableUntilMs?: number | undefined;
}

/** When the will that a connection has left is published. */
export interface WillDue {
  /** In ms since the epoch. */
  readonly atMs: number;
  /** A client that is back before withdraws the will although its session may not continue. */
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
   * No CONNECT: the client goes on with this incarnation, whose last connection was that one, or the answer is
   * 'owned-by-another'. @default a CONNECT
   */
  readonly resumes?: { readonly incarnation: string; readonly from: ConnectionId } | undefined;
  /**
   * Decides on a will that stands where the session is opened: whether it is to be published now, or withdrawn by the
   * client's return. `present`: the session continues. Part of the one decision that `open` is: it may be asked more
   * than once and has no effects.
   */
  isWillOwed(previous: SessionRecord, present: boolean): boolean;
  /** A store that waits before it counts the session releases it in the turn in which it does. @default none is kept */
  readonly reservation?: Reservation | undefined;
}

export interface OpenedSession {
  readonly session: SessionRef;
  /** The session continues: its subscriptions and messages are still there. */
  readonly present: boolean;
  /**
   * The session as it was before this call: connected (its connection has been taken over), waiting for its client, or
   * past its expiry and not yet removed.
   */
  readonly previous: SessionRecord | undefined;
  /**
   * The connection whose will the caller is to publish now. The will is owed until `doneWill`, even if the caller dies
   * or the session ends: `beginWill` finds it.
   */
  readonly owedWillOf: ConnectionId | undefined;
}

export interface DetachSession {
  readonly session: SessionRef;
  readonly connectionId: ConnectionId;
  /** Replaces the session's. */
  readonly expirySeconds: number;
  /** When the connection ended, in ms since the epoch. */
  readonly nowMs: number;
  /**
   * Set where the client may resume a session that has expired: no CONNECT finds it, but `OpenSession.resumes`. In ms
   * since the epoch.
   */
  readonly resumableUntilMs?: number | undefined;
  /** When the will of the connection is due, or that it is discarded. Undefined: the connection has no will. */
  readonly will: WillDue | 'discarded' | undefined;
}

/** A session ends with its connection, and leaves no will. */
export type EndSession = Pick<DetachSession, 'session' | 'connectionId' | 'nowMs'>;

/** The answer of `SessionStore.end`. */
export type SessionEnd = 'ended' | 'owes-more' | 'not-owned';

/** A session moves from one connection to another. */
export interface SessionMove {
  readonly from: ConnectionId;
  readonly nowMs: number;
}

/** The answer of `beginWill`. */
export type WillClaim =
  | {
      readonly state: 'begun';
      readonly will: Will;
      /** Of the connection that brought it. */
      readonly identity: Identity;
      /** That of the first call. */
      readonly messageId: MessageId;
      /** Not the first call: some recipients may have it already. */
      readonly isRepeat: boolean;
    }
  | { readonly state: 'not-due'; readonly dueAtMs: number }
  /** The connection is there, it brought none, or the will has been published, withdrawn or discarded. */
  | { readonly state: 'none' };

/**
 * Sessions and who owns them. Each call is one atomic decision: two CONNECTs with one client identifier get an
 * order, and the second finds the first in `previous`.
 */
export interface SessionStore {
  /**
   * Makes `attachment` the connection of the session. The session continues when `cleanStart` is false and one is
   * there that outlives its connection (expiry above 0) and has not expired; otherwise it begins as a new incarnation
   * in the place of the previous one, and the caller clears that one's data in the other ports.
   *
   * A session that has a connection, or outlives the last one, belongs to the name of its identity. To another name
   * the answer is 'owned-by-another', and nothing is changed, unless the request's `bindingRank` is above the
   * session's: then the session ends as with `cleanStart`. A record without a rank belongs to no name and does not
   * continue.
   *
   * A session expires when its last connection ended `expirySeconds` ago, to the millisecond; NEVER_EXPIRES does not.
   *
   * From this call on the window of a session that continues is empty and all that was inflight has to be sent again,
   * before anything new: see `QueueStore.next`.
   *
   * Expiry, identity and will become the request's either way. A will that stood there and has been begun is owed; of
   * any other the request decides.
   */
  open(request: OpenSession): Awaitable<OpenedSession | 'owned-by-another'>;

  get(tenant: string, clientId: string): Awaitable<SessionRecord | undefined>;

  /**
   * The connection has ended. Answers the record as it then stands; undefined, and nothing changed, when the
   * connection no longer owns the session: it was taken over, or this call was made before.
   */
  detach(request: DetachSession): Awaitable<SessionRecord | undefined>;

  /**
   * The connection has ended, and with it its session, whose will its client has withdrawn, if it brought one: `detach`
   * and `remove` as one decision. 'owes-more', and nothing changed, where a will of an earlier connection stands, or the session is in a room, which
   * the store keeps with the session; 'not-owned' as where `detach` answers undefined. The caller removes the session's
   * state in the other ports.
   */
  end(request: EndSession): Awaitable<SessionEnd>;

  /**
   * The client has shown who it is once more: identity and attachment of its connection are replaced. Undefined, and
   * nothing changed, when the connection no longer owns the session.
   *
   * With `move` the client goes on over another connection, that of `attachment`, to which the session and its will
   * belong from now on. Its window stays as it is. A second call with the same arguments changes nothing and answers
   * the same.
   */
  renew(
    session: SessionRef,
    attachment: Attachment,
    identity: Identity,
    move?: SessionMove,
  ): Awaitable<SessionRef | undefined>;

  /**
   * The will that this connection has left is about to be published, as the message `messageId`. It stays until
   * `doneWill`. A second call returns the same will under the same message id. So a publication that may have been cut
   * off is repeated, and subscribers' queues recognize it.
   */
  beginWill(
    session: SessionRef,
    connectionId: ConnectionId,
    messageId: MessageId,
    nowMs: number,
  ): Awaitable<WillClaim>;

  /** The will has been handed to its recipients. Does nothing when it was not begun, or is done. */
  doneWill(session: SessionRef, connectionId: ConnectionId): Awaitable<void>;

  /** The client has said goodbye: its will is forgotten, unless it has been begun. */
  discardWill(session: SessionRef, connectionId: ConnectionId): Awaitable<void>;

  /**
   * Forgets an incarnation with its will, unless a newer incarnation stands there or it has a connection. A will that
   * has been begun, or is owed, stays until `doneWill`. With `lastConnectionId` it is also left alone when another
   * connection has been there since that one. The caller decides whether its time has come. Returns false when there
   * was nothing to remove. The caller removes the session's state in the other ports, before or after. `hasRooms` is a
   * hint: as far as the caller has read, the session makes members of rooms present.
   */
  remove(session: SessionRef, lastConnectionId?: ConnectionId, hasRooms?: boolean): Awaitable<boolean>;

  /** Sessions in the store, connected or not; for the limit on their number. Need not be exact in the cloud. */
  count(): Awaitable<number>;
}

import type { PresenceRefusal } from '../model/accept-outcome.ts';
import type { Awaitable } from '../model/flow.ts';
import type { Message } from '../model/message.ts';
import type { PageLimit } from '../model/page.ts';
import type { QuotaHolder } from '../model/quota-holder.ts';
import type { ConnectionId, SessionRef } from '../model/session.ts';
import type { WideFilter } from './fan-out.ts';

import type { RetainedPage } from './retained.ts';

/** A member of a room: `$presence/ROOM/MEMBER`. */
export interface PresencePlace {
  readonly tenant: string;
  readonly room: string;
  readonly member: string;
}

export interface PresenceLimits {
  readonly membersMax: number;
  readonly ownersMax: number;
  readonly roomsPerSessionMax: number;
  readonly roomsPerIdentityMax: number;
}

/** A session that makes a member present, and the identity for which the member is counted. */
export interface PresenceOwner {
  readonly session: SessionRef;
  readonly holder: QuotaHolder;
  /** An earlier process may have handled the message, and died before it told watchers. @default false */
  readonly isRepetition?: boolean;
}

export interface PresenceChange {
  /**
   * 'same': the member was present with these data. 'still-there': another session makes it present. 'not-there': this
   * session does not make it present. 'is-back': a later connection of the session makes it present.
   */
  readonly change: 'joined' | 'changed' | 'same' | 'left' | 'still-there' | 'not-there' | 'is-back';
  /** Resolves when the change is durable. Until then its publisher is not answered. @default it is durable */
  readonly written?: Promise<void> | undefined;
  /** The change for watchers, from a store that keeps no told state. Absent: `takeUntold` returns it. */
  readonly told?: ToldMember | undefined;
  /** Another process may still tell watchers of an earlier leave, and then die. @default false */
  readonly mayBeOvertaken?: boolean;
}

/** A change for watchers: the data of a member, or that it has left. */
export interface ToldMember {
  readonly topic: string;
  /** Undefined: it has left. */
  readonly message: Message | undefined;
  /** The message that watchers were told before. Undefined: none. */
  readonly before: Message | undefined;
}

export interface Untold {
  readonly members: readonly ToldMember[];
  /** The new number of members, if it has changed. */
  readonly occupancy: Message | undefined;
  readonly hasMore: boolean;
  /**
   * To be called when watchers have been told. Until then the store returns the changes again. @default nothing is to
   * be done
   */
  readonly markTold?: () => Awaitable<void>;
}

/**
 * Members of rooms, each present as long as a session makes it so. The store knows two states of a member: the present
 * one, and the one that watchers were told. A new subscriber is sent the told state first, so all watchers see the
 * same changes from then on.
 */
export interface PresenceStore {
  /**
   * The session makes the member present with this message. A refusal changes nothing. 'not-connected': the session
   * has lost the connection that `session` names, and nothing was changed. A store that never returns this is called
   * in a turn in which the session is known to be connected.
   */
  put(
    place: PresencePlace,
    owner: PresenceOwner,
    message: Message,
    limits: PresenceLimits,
    nowMs: number,
  ): Awaitable<PresenceChange | PresenceRefusal | 'not-connected'>;

  /**
   * The session does not make the member present any more. The member leaves with its last session. 'is-back', from a
   * store that processes share: a later connection of the session has made the member present, and nothing was
   * changed.
   */
  remove(place: PresencePlace, session: SessionRef, connectionId?: ConnectionId): Awaitable<PresenceChange>;

  /** Members that the session makes present. */
  ownedBy(session: SessionRef): Awaitable<readonly PresencePlace[]>;

  /**
   * Watchers have been told that the session has left. Until then `ownedBy` returns the place, so that another process
   * repeats the work of one that dies. The place stays if the session makes the member present again. Absent if
   * nothing can happen in between.
   */
  release?(place: PresencePlace, session: SessionRef): Awaitable<void>;

  /**
   * A session that was lost with this connection is about to leave its rooms. False when its client has come back.
   * After true the session cannot be resumed without a CONNECT. Absent if looking and leaving are one turn.
   */
  mayLeave?(session: SessionRef, connectionId: ConnectionId): Awaitable<boolean>;

  /** The message of the member now. Absent if changes are told in the turn in which they are made. */
  look?(place: PresencePlace): Awaitable<Message | undefined>;

  /** Notes a change for `takeUntold` at the next tick. Absent if the store notes each change itself. */
  note?(place: PresencePlace, told: ToldMember): Awaitable<void>;

  /** The number of members now. Absent if `takeUntold` returns it. */
  count?(tenant: string, room: string): Awaitable<number>;

  /**
   * Changes that watchers have not been told, oldest first, at most so many. They count as told. A member that came
   * and left in between is not among them, nor one that has changed back.
   */
  takeUntold(
    tenant: string,
    room: string,
    countMax: number,
    occupancyOf: (members: number) => Message,
  ): Awaitable<Untold>;

  /** Messages that watchers were told last, on topics that the filter matches: of members, and of their number. */
  match(
    tenant: string,
    topicFilter: string,
    from: string | undefined,
    limit: PageLimit,
  ): Awaitable<RetainedPage>;
}

/** Timers for telling the changes of rooms: one for each room. */
export interface PresenceTicks {
  isArmed(tenant: string, room: string): Awaitable<boolean>;
  /** Calls `Broker.tellRoom` after this delay, unless the room has a timer. */
  arm(tenant: string, room: string, delayMs: number): Awaitable<void>;
  /** Members that one tick tells of. @default as many as its limit on deliveries allows */
  readonly membersMax?: number;
}

/** The rooms of a broker. */
export interface Presence {
  readonly store: PresenceStore;
  readonly ticks: PresenceTicks;
  /** There is no list of all rooms: a filter gets members only if it names a room. @default false */
  readonly isListedByRoom?: boolean;
  /** About how many subscribers stand in the shards of a filter. Absent if no filter has shards. */
  audienceOf?(filter: WideFilter, topic: string): Awaitable<number>;
  /**
   * Hands a changed room to the process that tells its watchers. Resolves when that process has told them, or noted
   * the change for a tick. That process calls `Broker.roomChanged`. Absent if this process tells.
   */
  hand?(tenant: string, room: string): Awaitable<void>;
  /** A client makes a member present on a connection that has made none before. */
  begins?(session: SessionRef): Awaitable<void>;
}

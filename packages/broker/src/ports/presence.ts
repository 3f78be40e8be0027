import type { Awaitable } from '../flow.ts';
import type { Message } from '../message.ts';
import type { QuotaHolder } from '../quota-holder.ts';
import type { ConnectionId, SessionRef } from '../session.ts';
import type { WideFilter } from './fan-out.ts';
import type { PageLimit } from './page.ts';
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

/** A session that makes a member present, and in whose name it is counted. */
export interface PresenceOwner {
  readonly session: SessionRef;
  readonly holder: QuotaHolder;
  /** The message may have been handled before, by a process that died before it told watchers. @default false */
  readonly isRepetition?: boolean;
}

/** Why a member is not taken in. */
export type PresenceRefusal = 'room-full' | 'owners-full' | 'rooms-full' | 'memory-full';

export interface PresenceChange {
  /**
   * 'same': it was there with these data. 'still-there': another session makes it present. 'not-there': not by this one.
   * 'is-back': a later connection of the session makes it present.
   */
  readonly change: 'joined' | 'changed' | 'same' | 'left' | 'still-there' | 'not-there' | 'is-back';
  /** Resolves when the change is durable: until then its publisher is not answered. @default it is durable */
  readonly written?: Promise<void> | undefined;
  /** The change as watchers are to be told, by a store that keeps no told state. Absent: `takeUntold` has it. */
  readonly told?: ToldMember | undefined;
  /** Another process may still tell watchers of an earlier leave of the member, and die then. @default false */
  readonly mayBeOvertaken?: boolean;
}

/** A member whose watchers are told: of its data, or that it is gone. */
export interface ToldMember {
  readonly topic: string;
  /** Undefined: it has left. */
  readonly message: Message | undefined;
  /** The message that watchers were told before. */
  readonly before: Message | undefined;
}

export interface Untold {
  readonly members: readonly ToldMember[];
  /** The new number of members, where it has changed. */
  readonly occupancy: Message | undefined;
  readonly hasMore: boolean;
  /** To be called when watchers have been told: until then the changes are handed out again. @default nothing is to be done */
  readonly markTold?: () => Awaitable<void>;
}

/**
 * Members of rooms, each present as long as a session makes it so. The store knows two states of a member: the present
 * one, and the one that its watchers have been told. A subscriber is first given what has been told, so that all
 * watchers see the same changes from there on.
 */
export interface PresenceStore {
  /**
   * The session makes the member present with this message; a refusal changes nothing. 'not-connected': the session has
   * lost the connection that `session` names, and nothing is changed. A store that does not say so is asked in the turn
   * in which the session is known to be connected.
   */
  put(
    place: PresencePlace,
    owner: PresenceOwner,
    message: Message,
    limits: PresenceLimits,
    nowMs: number,
  ): Awaitable<PresenceChange | PresenceRefusal | 'not-connected'>;

  /**
   * The session makes the member present no more. The member leaves with the last one. A store that other processes use
   * changes nothing where a later connection of the session than this one has made the member present: 'is-back'.
   */
  remove(place: PresencePlace, session: SessionRef, connectionId?: ConnectionId): Awaitable<PresenceChange>;

  /** Members that the session makes present. */
  ownedBy(session: SessionRef): Awaitable<readonly PresencePlace[]>;

  /**
   * Watchers have been told that the session has left: until then `ownedBy` still names the place, so that a process
   * which dies between is repeated. A session that makes the member present once more keeps the place. Absent where
   * nothing can come between.
   */
  release?(place: PresencePlace, session: SessionRef): Awaitable<void>;

  /**
   * A session that was lost with this connection is about to leave its rooms: false where its client has come back. From
   * a true answer on it cannot be resumed without a CONNECT. Absent where one turn looks and leaves.
   */
  mayLeave?(session: SessionRef, connectionId: ConnectionId): Awaitable<boolean>;

  /** The message of the member, now. Absent where changes are told in the turn in which they are made. */
  look?(place: PresencePlace): Awaitable<Message | undefined>;

  /** Notes a change for `takeUntold`, at the next tick. Absent where each change is noted. */
  note?(place: PresencePlace, told: ToldMember): Awaitable<void>;

  /** Members of the room, now. Absent where `takeUntold` tells their number. */
  count?(tenant: string, room: string): Awaitable<number>;

  /**
   * Changes that watchers of the room have not been told, oldest first and at most so many; from now on they have been
   * told. A member that came and went meanwhile is not among them, nor one that has changed back.
   */
  takeUntold(
    tenant: string,
    room: string,
    countMax: number,
    occupancyOf: (members: number) => Message,
  ): Awaitable<Untold>;

  /** The messages that watchers have been told under the topics that the filter matches: members, and numbers of members. */
  match(
    tenant: string,
    topicFilter: string,
    from: string | undefined,
    limit: PageLimit,
  ): Awaitable<RetainedPage>;
}

/** Reminders to tell the changes of a room: one for each room. */
export interface PresenceTicks {
  isArmed(tenant: string, room: string): Awaitable<boolean>;
  /** `Broker.tellRoom` is called so long from now, unless the room is armed. */
  arm(tenant: string, room: string, delayMs: number): Awaitable<void>;
  /** Members of which one tick tells at most. @default as many as are bounded deliveries */
  readonly membersMax?: number;
}

/** The rooms of a broker. */
export interface Presence {
  readonly store: PresenceStore;
  readonly ticks: PresenceTicks;
  /** There is no list of all rooms: a filter has to name one to be given its members. @default false */
  readonly isListedByRoom?: boolean;
  /** About how many subscribers stand in the shards of a filter. Absent where none does. */
  audienceOf?(filter: WideFilter, topic: string): Awaitable<number>;
  /**
   * A room has changed, whose watchers one process of several tells: it has done so, or noted it for a tick, when this
   * resolves. That process calls `Broker.roomChanged`. Absent where this process tells.
   */
  hand?(tenant: string, room: string): Awaitable<void>;
  /** A client makes a member present on a connection that has made none so far. */
  begins?(session: SessionRef): Awaitable<void>;
}

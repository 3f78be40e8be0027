import type { Awaitable } from '../flow.ts';
import type { Message } from '../message.ts';
import type { QuotaHolder } from '../quota-holder.ts';
import type { SessionRef } from '../session.ts';
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
}

/** Why a member is not taken in. */
export type PresenceRefusal = 'room-full' | 'owners-full' | 'rooms-full' | 'memory-full';

export interface PresenceChange {
  /** 'same': it was there with these data. 'still-there': another session makes it present. 'not-there': not by this one. */
  readonly change: 'joined' | 'changed' | 'same' | 'left' | 'still-there' | 'not-there';
  /** Settles when the change is durable: until then its publisher is not answered. @default it is durable */
  readonly written?: Promise<void> | undefined;
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
}

/**
 * Members of rooms, each present as long as a session makes it so. The store knows two states of a member: the present
 * one, and the one that its watchers have been told. A subscriber is first given what has been told, so that all
 * watchers see the same changes from there on.
 */
export interface PresenceStore {
  /** The session makes the member present with this message; a refusal changes nothing. */
  put(
    place: PresencePlace,
    owner: PresenceOwner,
    message: Message,
    limits: PresenceLimits,
    nowMs: number,
  ): Awaitable<PresenceChange | PresenceRefusal>;

  /** The session makes the member present no more. The member leaves with the last one. */
  remove(place: PresencePlace, session: SessionRef): Awaitable<PresenceChange>;

  /** Members that the session makes present. */
  ownedBy(session: SessionRef): Awaitable<readonly PresencePlace[]>;

  /**
   * Changes that watchers of the room have not been told, oldest first and at most so many; from now on they have been
   * told. A member that came and went meanwhile is not among them, nor one that is again what it was.
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
  isArmed(tenant: string, room: string): boolean;
  /** `Broker.tellRoom` is called once, so long from now. */
  arm(tenant: string, room: string, delayMs: number): void;
}

/** The rooms of a broker. */
export interface Presence {
  readonly store: PresenceStore;
  readonly ticks: PresenceTicks;
}

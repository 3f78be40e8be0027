import {
  type Message,
  occupancyTopic,
  type PageLimit,
  type PresenceChange,
  type PresenceLimits,
  type PresenceOwner,
  type PresencePlace,
  type PresenceRefusal,
  type PresenceStore,
  presenceTopic,
  type QuotaHolder,
  quotaHolderKey,
  type RetainedPage,
  type SessionRef,
  type ToldMember,
  type Untold,
} from '@apus/broker';
import { containsWildcard } from '@apus/mqtt';
import { type MemoryBudget, retainedMemoryBytes } from './memory-budget.ts';
import { MemoryRetained } from './retained.ts';

/** The place of one owner: entries of three maps. */
const OWNER_BYTES = 512;

/** Digits of the number of a told message: more than any process tells. */
const ID_DIGITS = 15;

/** Above every message id: replaces any message. */
const LAST_ID = '~';

const NO_LIMITS = { messagesMax: Number.POSITIVE_INFINITY, bytesMax: Number.POSITIVE_INFINITY };

/** A member as the store holds it. */
export interface HeldMember extends PresencePlace {
  readonly topic: string;
  readonly owners: ReadonlyMap<string, HeldOwner>;
  /** Undefined: the member has left. */
  readonly now: Message | undefined;
  /** The message that watchers were told last. Undefined: none. */
  readonly told: Message | undefined;
  readonly joinedAtMs: number;
}

interface HeldOwner {
  readonly session: Pick<SessionRef, 'clientId' | 'incarnation'>;
  /** The holder for whom it is counted. */
  readonly holder: QuotaHolder;
}

/** Called with changes, to store them. */
export interface PresenceJournal {
  /** The member is present; or it has left, and watchers were not told yet. */
  saved(member: HeldMember): void;
  removed(member: HeldMember): void;
}

interface Member extends HeldMember {
  readonly owners: Map<string, HeldOwner>;
  now: Message | undefined;
  told: Message | undefined;
  joinedAtMs: number;
}

interface Room {
  readonly key: string;
  readonly members: Map<string, Member>;
  /** In the order of the first change since watchers were told. */
  readonly untold: Set<Member>;
  count: number;
  toldCount: number;
  /** The number that watchers know. */
  toldOccupancy: number;
}

/** Rooms in memory. Every call runs to its end in one turn. */
export class MemoryPresence implements PresenceStore {
  journal: PresenceJournal | undefined;
  readonly #budget: MemoryBudget;
  readonly #rooms = new Map<string, Room>();
  readonly #bySession = new Map<string, Set<Member>>();
  readonly #placesOfHolder = new Map<string, number>();
  /** The messages that new subscribers are sent first. They are counted with the members. */
  readonly #told = new MemoryRetained();
  #lastId = 0;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  put(
    place: PresencePlace,
    owner: PresenceOwner,
    message: Message,
    limits: PresenceLimits,
    nowMs: number,
  ): PresenceChange | PresenceRefusal {
    const found = this.#find(place);
    const refusal = this.#refusalOf(place, found, owner, limits);
    if (refusal !== undefined) return refusal;
    const member = found ?? this.#create(place);
    this.#own(member, owner);
    const change = member.now === undefined ? 'joined' : isSame(member.now, message) ? 'same' : 'changed';
    if (change !== 'same') this.#change(member, message, nowMs);
    this.journal?.saved(member);
    return { change };
  }

  remove(place: PresencePlace, session: SessionRef): PresenceChange {
    const member = this.#find(place);
    if (member === undefined || !this.#disown(member, session)) return { change: 'not-there' };
    if (member.owners.size === 0) this.#change(member, undefined, 0);
    this.journal?.saved(member);
    return { change: member.owners.size === 0 ? 'left' : 'still-there' };
  }

  ownedBy(session: SessionRef): readonly PresencePlace[] {
    return [...(this.#bySession.get(ownerKey(session)) ?? [])];
  }

  takeUntold(
    tenant: string,
    room: string,
    countMax: number,
    occupancyOf: (members: number) => Message,
  ): Untold {
    const held = this.#rooms.get(roomKey(tenant, room));
    if (held === undefined) return { members: [], occupancy: undefined, hasMore: false };
    const members: ToldMember[] = [];
    for (const member of held.untold) {
      if (members.length >= countMax) break;
      held.untold.delete(member);
      const told = this.#tell(held, member);
      if (told !== undefined) members.push(told);
    }
    return { members, occupancy: this.#occupancy(held, tenant, occupancyOf), hasMore: held.untold.size > 0 };
  }

  match(tenant: string, topicFilter: string, from: string | undefined, limit: PageLimit): RetainedPage {
    // Nothing in it expires.
    const page = this.#told.match(tenant, topicFilter, 0, from, limit);
    const [prefix, room, ...others] = topicFilter.split('/');
    const isOneRoom = room !== undefined && others.length === 0 && !containsWildcard(topicFilter);
    if (page.messages.length > 0 || !isOneRoom || topicFilter !== occupancyTopic(room)) return page;
    return { messages: [emptyRoom(`${prefix}/${room}`)], next: undefined };
  }

  /** Present members, whether watchers know of them or not. Valid until one joins or leaves. */
  *members(tenant: string, room: string): Generator<HeldMember, void, undefined> {
    for (const member of this.#rooms.get(roomKey(tenant, room))?.members.values() ?? [])
      if (member.now !== undefined) yield member;
  }

  /** A member from before a restart; watchers know of it. */
  restore(
    place: PresencePlace,
    owners: readonly PresenceOwner[],
    message: Message,
    joinedAtMs: number,
    occupancyOf: (members: number) => Message,
  ): void {
    const member = this.#create(place);
    for (const owner of owners) this.#own(member, owner);
    this.#change(member, message, joinedAtMs);
    const room = this.#roomOf(member);
    room.untold.delete(member);
    this.#tell(room, member);
    this.#occupancy(room, place.tenant, occupancyOf);
  }

  #refusalOf(
    place: PresencePlace,
    found: Member | undefined,
    { session, holder }: PresenceOwner,
    limits: PresenceLimits,
  ): PresenceRefusal | undefined {
    const room = this.#rooms.get(roomKey(place.tenant, place.room));
    if (found?.now === undefined && (room?.count ?? 0) >= limits.membersMax) return 'room-full';
    if (this.#budget.isFull) return 'memory-full';
    const key = ownerKey(session);
    if (found?.owners.has(key)) return undefined;
    if ((found?.owners.size ?? 0) >= limits.ownersMax) return 'owners-full';
    const ofSession = this.#bySession.get(key)?.size ?? 0;
    const ofHolder = this.#placesOfHolder.get(quotaHolderKey(holder)) ?? 0;
    return ofSession >= limits.roomsPerSessionMax || ofHolder >= limits.roomsPerIdentityMax
      ? 'rooms-full'
      : undefined;
  }

  #find({ tenant, room, member }: PresencePlace): Member | undefined {
    return this.#rooms.get(roomKey(tenant, room))?.members.get(member);
  }

  #create({ tenant, room, member: name }: PresencePlace): Member {
    const topic = presenceTopic(room, name);
    const [now, told] = [undefined, undefined];
    const member: Member = { tenant, room, member: name, topic, owners: new Map(), now, told, joinedAtMs: 0 };
    this.#roomOf(member).members.set(name, member);
    return member;
  }

  #roomOf({ tenant, room }: PresencePlace): Room {
    const key = roomKey(tenant, room);
    let found = this.#rooms.get(key);
    if (found === undefined) {
      found = { key, members: new Map(), untold: new Set(), count: 0, toldCount: 0, toldOccupancy: 0 };
      this.#rooms.set(key, found);
    }
    return found;
  }

  #own(member: Member, { session, holder }: PresenceOwner): void {
    const key = ownerKey(session);
    if (member.owners.has(key)) return;
    const holderKey = quotaHolderKey(holder);
    member.owners.set(key, { session, holder });
    const places = this.#bySession.get(key) ?? new Set();
    this.#bySession.set(key, places.add(member));
    this.#placesOfHolder.set(holderKey, (this.#placesOfHolder.get(holderKey) ?? 0) + 1);
    this.#budget.change(OWNER_BYTES);
  }

  /** False: the session does not make it present. */
  #disown(member: Member, session: SessionRef): boolean {
    const key = ownerKey(session);
    const owner = member.owners.get(key);
    if (owner === undefined) return false;
    member.owners.delete(key);
    const places = this.#bySession.get(key);
    places?.delete(member);
    if (places?.size === 0) this.#bySession.delete(key);
    const holderKey = quotaHolderKey(owner.holder);
    const left = (this.#placesOfHolder.get(holderKey) ?? 0) - 1;
    if (left <= 0) this.#placesOfHolder.delete(holderKey);
    else this.#placesOfHolder.set(holderKey, left);
    this.#budget.change(-OWNER_BYTES);
    return true;
  }

  #change(member: Member, message: Message | undefined, nowMs: number): void {
    const room = this.#roomOf(member);
    if (member.now === undefined) {
      room.count += 1;
      member.joinedAtMs = nowMs;
    } else if (message === undefined) room.count -= 1;
    this.#budget.change(bytesOf(message) - bytesOf(member.now));
    member.now = message;
    room.untold.add(member);
  }

  /** Undefined: watchers know already. */
  #tell(room: Room, member: Member): ToldMember | undefined {
    const { topic, now: message, told: before, tenant } = member;
    this.#budget.change(bytesOf(message) - bytesOf(before));
    member.told = message;
    if (message === undefined) this.#told.delete(tenant, topic, LAST_ID);
    else this.#keep(tenant, message);
    room.toldCount += (message === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
    if (message === undefined) this.#forget(room, member);
    return isSame(message, before) ? undefined : { topic, message, before };
  }

  /** Replaces the message of the topic. Messages of two doors may be told in another order than that of their ids. */
  #keep(tenant: string, message: Message): void {
    this.#lastId += 1;
    this.#told.put(tenant, { ...message, id: String(this.#lastId).padStart(ID_DIGITS, '0') }, NO_LIMITS);
  }

  #forget(room: Room, member: Member): void {
    room.members.delete(member.member);
    if (room.members.size === 0) this.#rooms.delete(room.key);
    this.journal?.removed(member);
  }

  #occupancy(room: Room, tenant: string, occupancyOf: (members: number) => Message): Message | undefined {
    if (room.toldCount === room.toldOccupancy) return undefined;
    room.toldOccupancy = room.toldCount;
    const message = occupancyOf(room.toldCount);
    if (room.toldCount === 0) this.#told.delete(tenant, message.topic, LAST_ID);
    else this.#keep(tenant, message);
    return message;
  }
}

function roomKey(tenant: string, room: string): string {
  return `${tenant}\0${room}`;
}

function ownerKey({ key, incarnation }: SessionRef): string {
  return `${key}\0${incarnation}`;
}

function bytesOf(message: Message | undefined): number {
  return message === undefined ? 0 : retainedMemoryBytes(message);
}

function emptyRoom(topic: string): Message {
  return {
    id: '',
    topic,
    payload: Buffer.from('0'),
    qos: 0,
    retain: false,
    properties: {},
    expiresAtMs: undefined,
    publisherKey: undefined,
  };
}

/** Watchers see no difference between the two. */
function isSame(one: Message | undefined, other: Message | undefined): boolean {
  if (one === other) return true;
  if (one === undefined || other === undefined) return false;
  return (
    Buffer.compare(one.payload, other.payload) === 0 &&
    JSON.stringify(one.properties) === JSON.stringify(other.properties)
  );
}

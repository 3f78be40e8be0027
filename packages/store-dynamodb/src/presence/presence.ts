import {
  type ConnectionId,
  type Message,
  messageBytes,
  occupancyTopic,
  Page,
  type PageLimit,
  type PresenceChange,
  type PresenceLimits,
  type PresenceOwner,
  type PresencePlace,
  type PresenceRefusal,
  type PresenceStore,
  parsePresence,
  presenceTopic,
  type RetainedPage,
  type SessionRef,
  type ToldMember,
  type Untold,
} from '@apus/broker';
import { matches } from '@apus/mqtt';
import { DECISIONS_MAX, PRESENCE_REPEATED_MS } from '../limits.ts';
import { ContentionError } from '../table/errors.ts';
import { PRESENCE_MEMBERS, presenceMemberKey, presenceRoomKey } from '../table/keys.ts';
import { endOf, type Table } from '../table/table.ts';
import { type Transacted, transact } from '../table/transaction.ts';
import { text, textOf } from '../table/values.ts';
import { isSameData, type Member, type MemberOwner, memberItem, memberOf, ownerIn } from './member.ts';
import { noteMember, readNotes } from './notes.ts';
import { Rooms } from './room.ts';
import {
  addition,
  claimLeave,
  isConnectedBy,
  isLatest,
  placesOf,
  takeOut,
  whyNotAdded,
} from './session-rooms.ts';

/** A member as operators see it. */
export interface PresentMember {
  readonly member: string;
  readonly message: Message;
  readonly joinedAtMs: number;
  readonly clientIds: readonly string[];
}

/** Members in the order of their names. */
export interface PresentPage {
  readonly members: readonly PresentMember[];
  readonly next: string | undefined;
}

/** The outcome of a decision on a member's item, which is written on condition that the item is as it was read. */
type Decided = 'done' | 'again' | 'place-differs' | PresenceRefusal | 'not-connected';

/**
 * Rooms in DynamoDB, in the table that no sweep scans. A member is an item that names the sessions that make it
 * present, and their items name the member (`session-rooms.ts`). Both are written in one transaction, on condition
 * that the session has its connection:
 *
 *     handler of PUBLISH                 $disconnect
 *     reads the member: it is not there
 *                                        the session has no connection; its rooms: none
 *     (were the member simply put …)
 *     … it would stay for ever
 *     the transaction fails, as the session has no connection
 *
 * The store keeps no told state: the process that changes a member tells the watchers, or notes the change for the
 * next tick.
 */
export class DynamoPresence implements PresenceStore {
  readonly #table: Table;
  readonly rooms: Rooms;

  constructor(table: Table) {
    this.#table = table;
    this.rooms = new Rooms(table);
  }

  async put(
    place: PresencePlace,
    owner: PresenceOwner,
    message: Message,
    limits: PresenceLimits,
    nowMs: number,
  ): Promise<PresenceChange | PresenceRefusal | 'not-connected'> {
    const { session } = owner;
    const connectionId = connectionOf(session);
    let hasPlace = false;
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      const before = await this.#read(place);
      const own = ownerIn(before, session);
      const isSame = before !== undefined && isSameData(before.message, message);
      const isOfThis = own?.connectionId === connectionId;
      if (isOfThis && isSame && !isPerhapsUntold(before as Member, owner, nowMs)) return { change: 'same' };
      const after = changed(before, session, isSame ? before.message : message, isSame, {
        nowMs,
        nonce: this.#table.settings.randomId(),
      });
      const decided =
        own === undefined || before === undefined
          ? await this.#join(place, session, before, after, limits, hasPlace)
          : await this.#change(place, session, before, after, isOfThis);
      if (decided === 'place-differs') hasPlace = !hasPlace;
      if (decided === 'place-differs' || decided === 'again') continue;
      if (decided !== 'done') return decided;
      if (before === undefined) await this.rooms.changed(place.tenant, place.room, 1);
      const change = changeOf(
        before,
        isSame,
        isSame && isPerhapsUntold(before as Member, owner, nowMs),
        message,
      );
      return hasPlace && own === undefined ? { ...change, mayBeOvertaken: true } : change;
    }
    throw new ContentionError('the member of a room', DECISIONS_MAX);
  }

  async remove(
    place: PresencePlace,
    session: SessionRef,
    connectionId?: ConnectionId,
  ): Promise<PresenceChange> {
    const topic = presenceTopic(place.room, place.member);
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      const before = await this.#read(place);
      const own = ownerIn(before, session);
      if (before === undefined || own === undefined)
        return await this.#removedBefore(place, session, before, topic);
      if (await this.#isBack(session, own, connectionId)) return { change: 'is-back' };
      const owners = before.owners.filter(({ incarnation }) => incarnation !== session.incarnation);
      if (owners.length > 0) {
        const after = { ...before, owners, nonce: this.#table.settings.randomId() };
        if ((await this.#replace(place, before, after)) === 'done') return { change: 'still-there' };
      } else if (await this.#delete(place, before)) {
        await this.rooms.changed(place.tenant, place.room, -1);
        return { change: 'left', told: { topic, message: undefined, before: before.message } };
      }
    }
    throw new ContentionError('the member of a room', DECISIONS_MAX);
  }

  async ownedBy(session: SessionRef): Promise<readonly PresencePlace[]> {
    return await placesOf(this.#table, session);
  }

  async release(place: PresencePlace, session: SessionRef): Promise<void> {
    const isPresent = async () => ownerIn(await this.#read(place), session) !== undefined;
    await takeOut(this.#table, place, session, isPresent);
  }

  async mayLeave(session: SessionRef, connectionId: ConnectionId): Promise<boolean> {
    return await claimLeave(this.#table, session, connectionId);
  }

  async look(place: PresencePlace): Promise<Message | undefined> {
    return (await this.#read(place))?.message;
  }

  async note(place: PresencePlace, told: ToldMember): Promise<void> {
    await noteMember(this.#table, place, told);
  }

  async count(tenant: string, room: string): Promise<number> {
    return await this.rooms.count(tenant, room);
  }

  async takeUntold(tenant: string, room: string, countMax: number): Promise<Untold> {
    const topicOf = (member: string) => presenceTopic(room, member);
    const notes = await readNotes(this.#table, tenant, room, countMax, topicOf);
    return { ...notes, occupancy: undefined };
  }

  /** The present members. A filter that names no room matches nothing: there is no list of all rooms. */
  async match(
    tenant: string,
    topicFilter: string,
    from: string | undefined,
    limit: PageLimit,
  ): Promise<RetainedPage> {
    const [kind, room = ''] = topicFilter.split('/');
    if (topicFilter === occupancyTopic(room) && kind !== '$presence')
      return { messages: [await this.#occupancy(tenant, room)], next: undefined };
    const single = parsePresence(topicFilter);
    if (single !== undefined && !/[+#]/.test(topicFilter)) {
      const member = await this.#read({ tenant, ...single });
      return { messages: member === undefined ? [] : [member.message], next: undefined };
    }
    const page = await this.#page(tenant, room, from, limit.messages);
    const taken = new Page<Message>(limit);
    let next = page.next;
    for (const item of page.items) {
      const message = memberOf(item)?.message;
      if (message === undefined || !matches(topicFilter, message.topic)) continue;
      if (!taken.hasRoom(messageBytes(message))) break;
      taken.add(message, messageBytes(message));
      next = item === page.items.at(-1) ? page.next : textOf(item, 's');
    }
    return { messages: taken.entries, next };
  }

  async members(tenant: string, room: string, from: string | undefined, count: number): Promise<PresentPage> {
    const { items, next } = await this.#page(tenant, room, from, count);
    const members = items.flatMap((item): PresentMember[] => {
      const member = memberOf(item);
      if (member === undefined) return [];
      const { message, joinedAtMs, owners } = member;
      const name = parsePresence(message.topic)?.member ?? '';
      return [{ member: name, message, joinedAtMs, clientIds: owners.map(({ clientId }) => clientId) }];
    });
    return { members, next };
  }

  async #page(tenant: string, room: string, after: string | undefined, limit: number) {
    const { p } = presenceRoomKey(tenant, room);
    const range = { p, from: PRESENCE_MEMBERS, to: endOf(PRESENCE_MEMBERS), limit, after };
    return await this.#table.query(range);
  }

  async #read(place: PresencePlace): Promise<Member | undefined> {
    return memberOf(await this.#table.get(presenceMemberKey(place)));
  }

  async #join(
    { tenant, room, member }: PresencePlace,
    session: SessionRef,
    before: Member | undefined,
    after: Member,
    { membersMax, ownersMax, roomsPerSessionMax }: PresenceLimits,
    hasPlace: boolean,
  ): Promise<Decided> {
    if (before === undefined && (await this.rooms.isFull(tenant, room, membersMax))) return 'room-full';
    if ((before?.owners.length ?? 0) >= ownersMax) return 'owners-full';
    const place = { tenant, room, member };
    const connectionId = connectionOf(session);
    const asRead =
      before === undefined
        ? { condition: 'attribute_not_exists(p)' }
        : { condition: 'n = :nonce', values: { ':nonce': text(before.nonce) } };
    const added = { connectionId, nonce: after.nonce, placesMax: roomsPerSessionMax, hasPlace };
    const written: Transacted = await transact(this.#table, [
      { put: memberItem(presenceMemberKey(place), after), ...asRead },
      addition(place, session, added),
    ]);
    if (written.ok) return 'done';
    if (!written.failed.has(1)) return 'again';
    const why = whyNotAdded(written.failed.get(1), place, session, added);
    return why === 'other' ? 'place-differs' : why;
  }

  /** The session makes the member present already. A change by a later connection of the session is kept. */
  async #change(
    place: PresencePlace,
    session: SessionRef,
    before: Member,
    after: Member,
    isOfThis: boolean,
  ): Promise<Decided> {
    const connectionId = connectionOf(session);
    if (!isOfThis && !(await isConnectedBy(this.#table, session, connectionId))) return 'not-connected';
    return await this.#replace(place, before, after);
  }

  /**
   * A later connection of the session has made the member present, so it stays:
   *
   *     handler of a loss                  client
   *     reads: the session has no connection
   *                                        connects, and publishes: the member is there by this connection
   *     the member stays
   */
  async #isBack(
    session: SessionRef,
    own: MemberOwner,
    connectionId: ConnectionId | undefined,
  ): Promise<boolean> {
    if (connectionId === undefined || own.connectionId === connectionId) return false;
    return !(await isLatest(this.#table, session, connectionId));
  }

  async #replace(place: PresencePlace, before: Member, after: Member): Promise<'done' | 'again'> {
    const { ok, old } = await this.#table.put(memberItem(presenceMemberKey(place), after), {
      condition: 'n = :nonce',
      values: { ':nonce': text(before.nonce) },
    });
    // The answer to our own write may have been lost.
    return ok || textOf(old, 'n') === after.nonce ? 'done' : 'again';
  }

  async #delete(place: PresencePlace, before: Member): Promise<boolean> {
    const { ok, old, isRetry } = await this.#table.delete(presenceMemberKey(place), {
      condition: 'n = :nonce',
      values: { ':nonce': text(before.nonce) },
    });
    return ok || (isRetry && old === undefined);
  }

  /**
   * The session still has the place: a process has removed the member, and has died, perhaps before it told watchers;
   * or it has told them too late:
   *
   *     handler of a leave                 client
   *     the member is gone
   *                                        publishes: the member is there; watchers are told so
   *     watchers are told that it is gone
   *     dies before it looks again
   *
   * So if the member is there, watchers are told once more.
   */
  async #removedBefore(
    place: PresencePlace,
    session: SessionRef,
    member: Member | undefined,
    topic: string,
  ): Promise<PresenceChange> {
    const places = await this.ownedBy(session);
    if (!places.some((each) => each.room === place.room && each.member === place.member))
      return { change: 'not-there' };
    if (member !== undefined)
      return { change: 'still-there', told: { topic, message: member.message, before: undefined } };
    return { change: 'left', told: { topic, message: undefined, before: undefined } };
  }

  async #occupancy(tenant: string, room: string): Promise<Message> {
    return {
      id: '',
      topic: occupancyTopic(room),
      payload: Buffer.from(String(await this.count(tenant, room))),
      qos: 0,
      retain: false,
      properties: {},
      expiresAtMs: undefined,
      publisherKey: undefined,
    };
  }
}

/** Only sessions with a connection publish. */
function connectionOf({ attachment }: SessionRef): ConnectionId {
  return attachment?.connectionId ?? '';
}

function changed(
  before: Member | undefined,
  session: SessionRef,
  message: Message,
  isSame: boolean,
  { nowMs, nonce }: { readonly nowMs: number; readonly nonce: string },
): Member {
  const { incarnation, clientId } = session;
  const own = { incarnation, clientId, connectionId: connectionOf(session) };
  const others = before?.owners.filter((each) => each.incarnation !== incarnation) ?? [];
  return {
    message,
    owners: [...others, own],
    joinedAtMs: before?.joinedAtMs ?? nowMs,
    changedAtMs: isSame ? (before?.changedAtMs ?? nowMs) : nowMs,
    changedBy: isSame ? (before?.changedBy ?? incarnation) : incarnation,
    nonce,
  };
}

/**
 * The process that has written these data may have died before it told watchers: the client publishes them again, as a
 * repetition or in another session.
 */
function isPerhapsUntold(
  { changedAtMs, changedBy }: Member,
  { session, isRepetition = false }: PresenceOwner,
  nowMs: number,
): boolean {
  const isAnother = changedBy !== session.incarnation;
  return (isAnother || isRepetition) && nowMs - changedAtMs < PRESENCE_REPEATED_MS;
}

function changeOf(
  before: Member | undefined,
  isSame: boolean,
  isRepeated: boolean,
  message: Message,
): PresenceChange {
  const { topic } = message;
  if (before === undefined) return { change: 'joined', told: { topic, message, before: undefined } };
  if (!isSame) return { change: 'changed', told: { topic, message, before: before.message } };
  if (!isRepeated) return { change: 'same' };
  return { change: 'changed', told: { topic, message: before.message, before: undefined } };
}

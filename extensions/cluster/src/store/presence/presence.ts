import {
  type ConnectionId,
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
  quotaHolderKey,
  type RetainedPage,
  type SessionRecord,
  type SessionRef,
  type ToldMember,
  type Untold,
} from '@apus/broker';
import { containsWildcard } from '@apus/mqtt';
import { DiskError, messageCodec } from '@apus/store-disk';
import type { HeldMember } from '@apus/store-memory';
import type { Engine, Script } from '../engine.ts';
import { GIVEN_UP } from '../journal.ts';
import { MEMBERS_STEP } from '../limits.ts';
import type { Membership } from '../membership.ts';
import { ValkeyRetained } from '../retained.ts';
import {
  digestOf,
  fieldOf,
  type LeftPlace,
  leftPlaceOf,
  type OwnPlace,
  ownerKey,
  placeKey,
} from './place.ts';
import { INHERIT, MARK_TOLD, NUMBER, PUT, REMOVE, RENAME, TAKE, TELLER } from './scripts.ts';

type Argument = string | number | Buffer;

/** Member, its message, and the message before; each is empty if there is none. */
type Taken = readonly [Buffer, Buffer, Buffer];

const ID_OF_NUMBER = '~';

/** The places and rooms of a dead process. */
export interface Inherited {
  readonly places: readonly OwnPlace[];
  readonly rooms: readonly (readonly [tenant: string, room: string])[];
  readonly renamed: Promise<void>;
}

/** Clients with a session at this process. */
export interface PresenceSessions {
  get(tenant: string, clientId: string): SessionRecord | undefined;
}

/** Rooms in the engine, which all processes share. The process that has a session knows its places. */
export class ValkeyPresence implements PresenceStore {
  readonly #engine: Engine;
  readonly #membership: Membership;
  readonly #sessions: PresenceSessions;
  /** The messages that new subscribers get: those of members, and their number. */
  readonly #told: ValkeyRetained;
  /** The places by owner. */
  readonly #places = new Map<string, Map<string, OwnPlace>>();
  #asking = 0;

  constructor(engine: Engine, membership: Membership, sessions: PresenceSessions) {
    this.#engine = engine;
    this.#membership = membership;
    this.#sessions = sessions;
    this.#told = new ValkeyRetained(engine, 'presence-told');
  }

  async put(
    place: PresencePlace,
    { session, holder }: PresenceOwner,
    message: Message,
    limits: PresenceLimits,
    nowMs: number,
  ): Promise<PresenceChange | PresenceRefusal> {
    const owner = ownerKey(session);
    const places = this.#places.get(owner);
    const known = places?.get(placeKey(place));
    if (known === undefined && (places?.size ?? 0) >= limits.roomsPerSessionMax) return 'rooms-full';
    // Within the turn of the call: when its connection ends, the session leaves the places that it knows.
    const connectionId = session.attachment?.connectionId ?? '';
    const own = known ?? this.#add({ ...place, session, holder, connectionId });
    own.connectionId = connectionId;
    const args = [
      place.member,
      owner,
      session.clientId,
      quotaHolderKey(holder),
      fieldOf(place, owner),
      JSON.stringify(leftPlaceOf(own)),
      digestOf(message),
      Buffer.from(messageCodec.encode(message)),
      nowMs,
      limits.membersMax,
      limits.ownersMax,
      limits.roomsPerIdentityMax,
    ];
    const answer = await this.#ask(PUT, place, args).catch(unlessFull);
    if (!isRefusal(answer)) return { change: answer as PresenceChange['change'] };
    if (known === undefined) this.#drop(place, owner);
    return answer;
  }

  async remove(
    place: PresencePlace,
    session: SessionRef,
    connectionId?: ConnectionId,
  ): Promise<PresenceChange> {
    const owner = ownerKey(session);
    const own = this.#places.get(owner)?.get(placeKey(place));
    if (own === undefined) return { change: 'not-there' };
    if (this.#isBack(own, connectionId)) return { change: 'is-back' };
    this.#drop(place, owner);
    const args = [place.member, owner, quotaHolderKey(own.holder), fieldOf(place, owner)];
    return { change: (await this.#ask(REMOVE, place, args)) as PresenceChange['change'] };
  }

  ownedBy(session: SessionRef): readonly PresencePlace[] {
    return [...(this.#places.get(ownerKey(session))?.values() ?? [])];
  }

  /** Changes are under way to the engine. */
  get isBusy(): boolean {
    return this.#asking > 0;
  }

  /** The only process that sends changes to the watchers of the room. */
  async teller(tenant: string, room: string): Promise<string> {
    return await this.#ask(TELLER, { tenant, room, member: '' }, []);
  }

  async takeUntold(
    tenant: string,
    room: string,
    countMax: number,
    occupancyOf: (members: number) => Message,
  ): Promise<Untold> {
    const place = { tenant, room, member: '' };
    const answer = await this.#run(TAKE, place, [countMax]);
    if (answer === 0) return { members: [], occupancy: undefined, hasMore: false };
    const [taken, count, isNew, left] = answer as [Taken[], number, number, number];
    const occupancy = isNew === 0 ? undefined : occupancyOf(count);
    const topic = occupancyTopic(room);
    if (occupancy !== undefined)
      await this.#run(NUMBER, place, [
        topic,
        Buffer.from(messageCodec.encode({ ...occupancy, id: ID_OF_NUMBER })),
      ]);
    const names = taken.map(([member]) => member.toString());
    const markTold = async () => {
      // Sent after the messages, which leave at the end of the turn.
      await new Promise((resolve) => setImmediate(resolve));
      await this.#run(MARK_TOLD, place, [topic, count, ...names]);
    };
    const members = taken.map(([member, message, before]): ToldMember => {
      const told = presenceTopic(room, member.toString());
      return { topic: told, message: messageOf(message), before: messageOf(before) };
    });
    const isNothing = members.length === 0 && occupancy === undefined;
    return { members, occupancy, hasMore: left > 0, ...(!isNothing && { markTold }) };
  }

  async match(
    tenant: string,
    topicFilter: string,
    from: string | undefined,
    limit: PageLimit,
  ): Promise<RetainedPage> {
    // Nothing in this store expires.
    const page = await this.#told.match(tenant, topicFilter, 0, from, limit);
    const [, room, ...others] = topicFilter.split('/');
    const isOneRoom = room !== undefined && others.length === 0 && !containsWildcard(topicFilter);
    if (page.messages.length > 0 || !isOneRoom || topicFilter !== occupancyTopic(room)) return page;
    return { messages: [emptyRoom(topicFilter)], next: undefined };
  }

  /** Present members, whether watchers have been told of them or not, in the order in which they joined. */
  async members(
    tenant: string,
    room: string,
  ): Promise<Pick<HeldMember, 'member' | 'now' | 'joinedAtMs' | 'owners'>[]> {
    const keys = this.#keys({ tenant, room, member: '' });
    const { client } = this.#engine;
    const found = await client.zrange(keys.names, 0, -1, 'WITHSCORES');
    const members: Pick<HeldMember, 'member' | 'now' | 'joinedAtMs' | 'owners'>[] = [];
    for (let at = 0; at < found.length; at += 2 * MEMBERS_STEP) {
      const step = found.slice(at, at + 2 * MEMBERS_STEP);
      const names = step.filter((_, index) => index % 2 === 0);
      const messages = await client.hmgetBuffer(keys.now, ...names);
      const owners = await Promise.all(
        names.map((member) => client.hgetall(this.#keys({ tenant, room, member }).owners)),
      );
      for (const [index, member] of names.entries()) {
        const message = messages[index];
        if (message === null || message === undefined) continue;
        const holder = { tenant, kind: 'client', name: '' } as const;
        const of = Object.entries(owners[index] ?? {}).map(
          ([owner, clientId]) => [owner, { session: { clientId, incarnation: '' }, holder }] as const,
        );
        const now = messageOf(message.subarray(40));
        members.push({ member, now, joinedAtMs: Number(step[2 * index + 1]), owners: new Map(of) });
      }
    }
    return members;
  }

  /**
   * Takes over the places of a dead process, whose sessions are here, and the rooms that it told. `renamed` resolves
   * when the engine has the sessions under their new names.
   */
  async inherit(dead: string): Promise<Inherited> {
    const { membersKey, me } = this.#membership;
    const keys = [membersKey, ...[dead, me].map((name) => this.#ofProcess(name))];
    const tells = [dead, me].map((name) => this.#engine.key('presence-tells', name));
    const answer = await this.#engine.run(INHERIT, [...keys, ...tells], [me]);
    if (answer === 0) throw new DiskError(GIVEN_UP);
    const [fields, rooms] = (answer as [Buffer[], Buffer[]]).map((list) => list.map(String)) as [
      string[],
      string[],
    ];
    const places: OwnPlace[] = [];
    const renaming: Promise<void>[] = [];
    for (let at = 0; at < fields.length; at += 2) {
      const left = JSON.parse(fields[at + 1] ?? '') as LeftPlace;
      const own = this.#takeOn(left);
      places.push(own);
      if (ownerKey(own.session) !== ownerKey(left)) renaming.push(this.#rename(fields[at] ?? '', left, own));
    }
    return {
      places,
      rooms: rooms.map((room) => JSON.parse(room) as [string, string]),
      renamed: Promise.all(renaming).then(() => {}),
    };
  }

  /** Takes a place over under its session here; if the session has ended with its process, unchanged. */
  #takeOn({ tenant, room, member, key, clientId, incarnation, holder, connectionId }: LeftPlace): OwnPlace {
    const place = { tenant, room, member };
    const record = this.#sessions.get(tenant, clientId);
    const session = record?.session ?? { key, tenant, clientId, incarnation, attachment: undefined };
    const known = this.#places.get(ownerKey(session))?.get(placeKey(place));
    return (
      known ??
      this.#add({ ...place, session, holder, connectionId: record?.lastConnectionId ?? connectionId })
    );
  }

  async #rename(field: string, left: LeftPlace, own: OwnPlace): Promise<void> {
    const { membersKey, me } = this.#membership;
    const owner = ownerKey(own.session);
    const { own: ofThis, owners, held } = this.#keys(own);
    await this.#engine.run(
      RENAME,
      [membersKey, ofThis, owners, held],
      [
        me,
        field,
        fieldOf(own, owner),
        JSON.stringify(leftPlaceOf(own)),
        ownerKey(left),
        owner,
        quotaHolderKey(own.holder),
      ],
    );
  }

  /** A later connection of the session has published to the room. */
  #isBack(own: OwnPlace, connectionId: ConnectionId | undefined): boolean {
    if (connectionId === undefined || own.connectionId === connectionId) return false;
    const { session } = own;
    const record = this.#sessions.get(session.tenant, session.clientId);
    if (record?.session.incarnation !== session.incarnation) return false;
    return (record.session.attachment?.connectionId ?? record.lastConnectionId) !== connectionId;
  }

  #add(own: OwnPlace): OwnPlace {
    const owner = ownerKey(own.session);
    const places = this.#places.get(owner) ?? new Map<string, OwnPlace>();
    this.#places.set(owner, places.set(placeKey(own), own));
    return own;
  }

  #drop(place: PresencePlace, owner: string): void {
    const places = this.#places.get(owner);
    places?.delete(placeKey(place));
    if (places?.size === 0) this.#places.delete(owner);
  }

  /** @throws {DiskError} if the other processes have given this one up */
  async #ask(script: Script, place: PresencePlace, args: readonly Argument[]): Promise<string> {
    this.#asking += 1;
    const answer = await this.#run(script, place, args).finally(() => {
      this.#asking -= 1;
    });
    if (answer === 0) throw new DiskError(GIVEN_UP);
    return (answer as Buffer).toString();
  }

  async #run(script: Script, place: PresencePlace, args: readonly Argument[]): Promise<unknown> {
    const { tenant, room } = place;
    const keys = [this.#membership.membersKey, ...Object.values(this.#keys(place))];
    const name = JSON.stringify([tenant, room]);
    return await this.#engine.run(script, keys, [
      this.#membership.me,
      name,
      presenceTopic(room, ''),
      ...args,
    ]);
  }

  /** Changes in the order of the scripts. */
  #keys({ tenant, room, member }: PresencePlace) {
    const of = (part: string, ...more: string[]) =>
      this.#engine.key(`presence-${part}`, tenant.length, tenant, ...more);
    const [told, topics] = this.#told.keys(tenant);
    return {
      room: of('room', room),
      names: of('names', room),
      now: of('now', room),
      untold: of('untold', room),
      telling: of('telling', room),
      told: told ?? '',
      topics: topics ?? '',
      digests: of('digests', room),
      tells: this.#engine.key('presence-tells', this.#membership.me),
      held: of('held'),
      own: this.#ofProcess(this.#membership.me),
      // The name of a room contains no `/`.
      owners: of('owners', `${room}/${member}`),
    };
  }

  #ofProcess(process: string): string {
    return this.#engine.key('presence-of', process);
  }
}

function isRefusal(answer: string): answer is PresenceRefusal {
  return answer.endsWith('-full');
}

function messageOf(bytes: Buffer): Message | undefined {
  return bytes.length === 0 ? undefined : messageCodec.decode(bytes);
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

/** The error means that the engine's memory is full; any other error is thrown. */
function unlessFull(error: unknown): PresenceRefusal {
  if (error instanceof Error && error.message.startsWith('OOM')) return 'memory-full';
  throw error;
}

import { beforeEach, describe, expect, it } from 'vitest';
import {
  type Awaitable,
  type Message,
  occupancyTopic,
  type PresenceLimits,
  type PresenceStore,
  presenceTopic,
  type SessionRef,
  type Stores,
} from '../src/index.ts';
import { messageOf, NOW_MS } from './samples.ts';
import { Client, unique } from './support.ts';

/** The stores of one process, with its rooms. */
export interface StoresWithRooms extends Stores {
  readonly presence: PresenceStore;
}

const LIMITS: PresenceLimits = {
  membersMax: 4,
  ownersMax: 2,
  roomsPerSessionMax: 3,
  roomsPerIdentityMax: 100,
};

const PAGE = { messages: 2, bytes: 100_000 };

const ROOM = 'hall';

/** The contract of every `PresenceStore`. Each test has a tenant of its own. */
export function presenceStoreContract(name: string, makeStores: () => Awaitable<StoresWithRooms>): void {
  describe(`${name}: PresenceStore`, () => {
    let tenant: string;
    let stores: StoresWithRooms;
    let store: PresenceStore;

    beforeEach(async () => {
      tenant = unique('tenant');
      stores = await makeStores();
      store = stores.presence;
    });

    const connected = async (clientId = unique('client')) => {
      const client = new Client(stores, tenant, clientId);
      const { session } = await client.open();
      return Object.assign(client, { ref: session });
    };
    const placeOf = (member: string, room = ROOM) => ({ tenant, room, member });
    const ownerOf = (session: SessionRef) => ({
      session,
      holder: { tenant, kind: 'client', name: session.clientId } as const,
    });
    const data = (member: string, payload: string, room = ROOM, fields: Partial<Message> = {}) =>
      messageOf({ topic: presenceTopic(room, member), payload: Buffer.from(payload), qos: 1, ...fields });
    /** The change in a word; the refusal, where it is one. */
    const put = async (session: SessionRef, member: string, payload = 'here', room = ROOM) => {
      const place = placeOf(member, room);
      const changed = await store.put(place, ownerOf(session), data(member, payload, room), LIMITS, NOW_MS);
      return typeof changed === 'string' ? changed : changed.change;
    };
    const remove = async (session: SessionRef, member: string, room = ROOM) =>
      (await store.remove(placeOf(member, room), session)).change;
    /** Watchers are told, where the store tells them by itself. */
    const tell = async (room = ROOM) => {
      const occupancyOf = (members: number) =>
        messageOf({ topic: occupancyTopic(room), payload: Buffer.from(String(members)) });
      return await store.takeUntold(tenant, room, 100, occupancyOf);
    };
    /** The members that a new watcher is given: `ann=here`. */
    const listed = async (topicFilter = `$presence/${ROOM}/+`) => {
      const found: string[] = [];
      let from: string | undefined;
      do {
        const page = await store.match(tenant, topicFilter, from, PAGE);
        expect(page.messages.length).toBeLessThanOrEqual(PAGE.messages);
        for (const { topic, payload } of page.messages)
          found.push(`${topic.split('/').at(-1)}=${Buffer.from(payload).toString()}`);
        from = page.next;
      } while (from !== undefined);
      return found.sort();
    };

    it('keeps a member from its first data to its removal', async () => {
      const { ref } = await connected();
      expect(await put(ref, 'ann')).toBe('joined');
      expect(await put(ref, 'ann')).toBe('same');
      expect(await put(ref, 'ann', 'typing')).toBe('changed');
      await tell();
      expect(await listed()).toEqual(['ann=typing']);
      expect(await remove(ref, 'ann')).toBe('left');
      await tell();
      expect(await listed()).toEqual([]);
    });

    it('returns the changes for watchers, at once or when it is asked', async () => {
      const { ref } = await connected();
      const message = data('ann', 'here');
      const joined = await store.put(placeOf('ann'), ownerOf(ref), message, LIMITS, NOW_MS);
      const told = typeof joined === 'string' ? undefined : joined.told;
      const first = told ?? (await tell()).members[0];
      expect(first).toMatchObject({ topic: message.topic, before: undefined });
      expect(Buffer.from(first?.message?.payload ?? []).toString()).toBe('here');
      const left = await store.remove(placeOf('ann'), ref);
      const last = left.told ?? (await tell()).members[0];
      expect(last).toMatchObject({ topic: message.topic, message: undefined });
      expect(Buffer.from(last?.before?.payload ?? []).toString()).toBe('here');
    });

    it('lists a room in pages', async () => {
      for (const member of ['ann', 'bob', 'cy']) await put((await connected()).ref, member);
      await put((await connected()).ref, 'dan', 'here', 'another');
      await tell();
      await tell('another');
      expect(await listed()).toEqual(['ann=here', 'bob=here', 'cy=here']);
      expect(await listed(`$presence/${ROOM}/bob`)).toEqual(['bob=here']);
      expect(await listed(`$presence/${ROOM}/nobody`)).toEqual([]);
      expect(await listed(`$occupancy/${ROOM}`)).toEqual([`${ROOM}=3`]);
      expect(await listed('$occupancy/empty')).toEqual(['empty=0']);
    });

    it('keeps a member that two sessions make present until the second has left', async () => {
      const [one, other] = [await connected(), await connected()];
      expect(await put(one.ref, 'ann', 'here')).toBe('joined');
      expect(await put(other.ref, 'ann', 'there')).toBe('changed');
      expect(await remove(one.ref, 'ann')).toBe('still-there');
      expect(await remove(other.ref, 'ann')).toBe('left');
    });

    it('lets no session remove a member that it has not made present', async () => {
      const [one, other] = [await connected(), await connected()];
      await put(one.ref, 'ann');
      expect(await remove(other.ref, 'ann')).toBe('not-there');
      expect(await remove(one.ref, 'bob')).toBe('not-there');
      await tell();
      expect(await listed()).toEqual(['ann=here']);
    });

    it('knows the members that a session makes present', async () => {
      const [one, other] = [await connected(), await connected()];
      await put(one.ref, 'ann');
      await put(one.ref, 'ann', 'here', 'another');
      await put(other.ref, 'bob');
      const rooms = async (session: SessionRef) =>
        (await store.ownedBy(session)).map(({ room, member }) => `${room}/${member}`).sort();
      expect(await rooms(one.ref)).toEqual(['another/ann', 'hall/ann']);
      await store.remove(placeOf('ann'), one.ref);
      await store.release?.(placeOf('ann'), one.ref);
      expect(await rooms(one.ref)).toEqual(['another/ann']);
      expect(await rooms(other.ref)).toEqual(['hall/bob']);
    });

    it('knows them after the session has ended and another incarnation has replaced it', async () => {
      const client = await connected();
      await put(client.ref, 'ann');
      await client.open({ cleanStart: true });
      expect(await store.ownedBy(client.ref)).toMatchObject([{ room: ROOM, member: 'ann' }]);
      expect(await remove(client.ref, 'ann')).toBe('left');
      await store.release?.(placeOf('ann'), client.ref);
      expect(await store.ownedBy(client.ref)).toEqual([]);
    });

    it('takes no more members, owners and rooms than the limits allow', async () => {
      const members = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(() => connected()));
      const [first, second, third, , last] = members as [
        ...[(typeof members)[0], (typeof members)[0], (typeof members)[0], (typeof members)[0]],
        (typeof members)[0],
      ];
      for (const [index, { ref }] of members.slice(0, 4).entries()) await put(ref, `m${index}`);
      expect(await put(last.ref, 'm4')).toBe('room-full');
      expect(await put(first.ref, 'm0', 'typing')).toBe('changed');
      expect(await put(second.ref, 'm0')).toBe('changed');
      expect(await put(third.ref, 'm0')).toBe('owners-full');
      for (const room of ['r1', 'r2']) expect(await put(first.ref, 'm0', 'here', room)).toBe('joined');
      expect(await put(first.ref, 'm0', 'here', 'r3')).toBe('rooms-full');
      expect(await remove(first.ref, 'm0', 'r1')).toBe('left');
      await store.release?.(placeOf('m0', 'r1'), first.ref);
      expect(await put(first.ref, 'm0', 'here', 'r3')).toBe('joined');
    });

    it('lets no tenant see the rooms of another', async () => {
      const { ref } = await connected();
      await put(ref, 'ann');
      await tell();
      const page = await store.match(unique('tenant'), `$presence/${ROOM}/+`, undefined, PAGE);
      expect(page).toEqual({ messages: [], next: undefined });
    });
  });
}

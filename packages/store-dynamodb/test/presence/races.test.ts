import type { PresencePlace, SessionRef } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { detach, messageOf, open, unique } from '../support/client.ts';
import { type IsDue, once } from '../support/hooks.ts';
import { NOW_MS, withService } from '../support/stores.ts';

const LIMITS = { membersMax: 10, ownersMax: 8, roomsPerSessionMax: 16, roomsPerIdentityMax: 16 };

const deletesMember: IsDue = (operation) => operation === 'DeleteItem';
const releasesPlace: IsDue = (operation, input) =>
  operation === 'UpdateItem' && JSON.stringify(input).includes('DELETE rm');
const writesMember: IsDue = (operation, input) =>
  operation === 'PutItem' && JSON.stringify(input).includes('"s":{"S":"=');

await withService((service) => {
  /** A client in a room, and the stores of another process, which acts on it. */
  const begin = async (isDue?: IsDue, meanwhile: () => Promise<unknown> = async () => {}) => {
    const client = service.make();
    const other = isDue === undefined ? service.make() : service.make({ hooks: once(isDue, meanwhile) });
    const tenant = unique('tenant');
    const place: PresencePlace = { tenant, room: 'hall', member: 'ann' };
    let connections = 0;
    const connect = async () => {
      connections += 1;
      return (await open(client, tenant, 'c', { connectionId: `c:${connections}` })).session;
    };
    const put = async (session: SessionRef, payload = 'here', { presence } = client) => {
      const message = messageOf(1, { topic: '$presence/hall/ann', payload: Buffer.from(payload), qos: 1 });
      const holder = { tenant, kind: 'client', name: 'c' } as const;
      const changed = await presence.put(place, { session, holder }, message, LIMITS, NOW_MS);
      return typeof changed === 'string' ? changed : changed.change;
    };
    const data = async () => {
      const payload = (await client.presence.look(place))?.payload;
      return payload === undefined ? undefined : Buffer.from(payload).toString();
    };
    const lose = async (session: SessionRef) => {
      await detach(client, session, `c:${connections}`);
      expect(await client.presence.mayLeave(session, `c:${connections}`)).toBe(true);
    };
    return { client, other, place, connect, put, data, lose };
  };

  describe('a client that is back in its room before its leave has been released', () => {
    it('may be overtaken by the news of that leave', async () => {
      const { client, place, connect } = await begin();
      const session = await connect();
      const holder = { tenant: place.tenant, kind: 'client', name: 'c' } as const;
      const message = messageOf(1, { topic: '$presence/hall/ann', payload: Buffer.from('here'), qos: 1 });
      const put = async () => await client.presence.put(place, { session, holder }, message, LIMITS, NOW_MS);
      expect(await put()).not.toHaveProperty('mayBeOvertaken');
      await client.presence.remove(place, session);
      expect(await put()).toMatchObject({ change: 'joined', mayBeOvertaken: true });
      await client.presence.remove(place, session);
      await client.presence.release(place, session);
      expect(await put()).not.toHaveProperty('mayBeOvertaken');
      expect(await client.presence.ownedBy(session)).toEqual([place]);
    });
  });

  describe('a place that is released', () => {
    it('stays where its client is in the room again', async () => {
      const { client, place, connect, put } = await begin();
      const session = await connect();
      await put(session);
      await client.presence.remove(place, session);
      expect(await put(session)).toBe('joined');
      await client.presence.release(place, session);
      expect(await client.presence.ownedBy(session)).toEqual([place]);
    });

    it('stays where its client comes into the room between its reads and its write', async () => {
      let again = async (): Promise<unknown> => undefined;
      const { client, other, place, connect, put } = await begin(releasesPlace, () => again());
      const session = await connect();
      await put(session);
      await client.presence.remove(place, session);
      again = () => put(session);
      await other.presence.release(place, session);
      expect(await client.presence.ownedBy(session)).toEqual([place]);
    });
  });

  describe('the leave of a client that was lost', () => {
    it('ends where the client is back in its session', async () => {
      const { other, place, connect, put, data, lose } = await begin();
      const lost = await connect();
      await put(lost);
      await lose(lost);
      const session = await connect();
      expect(await put(session)).toBe('same');
      expect((await other.presence.remove(place, lost, 'c:1')).change).toBe('is-back');
      expect(await data()).toBe('here');
    });

    it('ends where the client is back between its reads and its write', async () => {
      let comesBack = async (): Promise<unknown> => undefined;
      const { other, place, connect, put, data, lose } = await begin(deletesMember, () => comesBack());
      const lost = await connect();
      await put(lost);
      await lose(lost);
      comesBack = async () => expect(await put(await connect())).toBe('same');
      expect((await other.presence.remove(place, lost, 'c:1')).change).toBe('is-back');
      expect(await data()).toBe('here');
    });

    it('goes on where another session of the client has its connection', async () => {
      const { client, other, place, connect, put, data, lose } = await begin();
      const lost = await connect();
      await put(lost);
      await lose(lost);
      await open(client, place.tenant, 'c', { connectionId: 'c:9', cleanStart: true });
      expect((await other.presence.remove(place, lost, 'c:9')).change).toBe('left');
      expect(await data()).toBeUndefined();
    });
  });

  describe('a publication that is handled late', () => {
    it('changes nothing where its session has another connection', async () => {
      const { connect, put, data } = await begin();
      const late = await connect();
      await put(late);
      const session = await connect();
      await put(session, 'new');
      expect(await put(late, 'old')).toBe('not-connected');
      expect(await data()).toBe('new');
    });

    it('changes nothing where its session gets another connection between its reads and its write', async () => {
      let takesOver = async (): Promise<unknown> => undefined;
      const { other, connect, put, data } = await begin(writesMember, () => takesOver());
      const late = await connect();
      await put(late);
      takesOver = async () => await put(await connect(), 'new');
      expect(await put(late, 'old', other)).toBe('not-connected');
      expect(await data()).toBe('new');
    });

    it('joins no room where its session has another connection', async () => {
      const { connect, put, data } = await begin();
      const late = await connect();
      await connect();
      expect(await put(late)).toBe('not-connected');
      expect(await data()).toBeUndefined();
    });
  });
});

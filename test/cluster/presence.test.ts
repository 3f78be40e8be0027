import { type Message, presenceTopic, sessionKey } from '@apus/broker';
import { messageOf } from '@apus/broker/samples';
import { Engine, Membership, ValkeyPresence } from '@apus/cluster/store';
import type { RunningNode } from '@apus/node';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { engineOrSkip, startEngine, type TestEngine } from '../support/engine-or-skip.ts';
import { needs } from '../support/skips.ts';
import { startMember } from '../support/start-cluster.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const TENANT = 'default';
const GRACE_SECONDS = 2;
const KEPT = { clean: false, properties: { sessionExpiryInterval: 300 } };
const LIMITS = { membersMax: 100, ownersMax: 8, roomsPerSessionMax: 16, roomsPerIdentityMax: 1000 };
const ARRIVAL = { timeout: 60_000, interval: 50 };

describe('rooms of two processes', needs('engine', program), () => {
  let engine: TestEngine;
  let members: readonly RunningNode[];
  const options = { presenceGraceSeconds: GRACE_SECONDS };

  beforeAll(async () => {
    engine = await startEngine(program);
    members = [await startMember(engine.url, options), await startMember(engine.url, options)];
  });

  afterAll(async () => {
    for (const member of members) await member.stop();
    await engine.stop();
  });

  const at = (index: number, fields = {}) => ClusterClient.connect(members[index]?.url ?? '', fields);
  const enter = ({ client }: ClusterClient, room: string, member: string, data = 'here') =>
    client.publishAsync(presenceTopic(room, member), data, { qos: 1 });
  const watch = async (index: number, room: string) => {
    const watcher = await at(index);
    await watcher.client.subscribeAsync(`$presence/${room}/+`, { qos: 1 });
    return watcher;
  };
  const seenBy = ({ received }: ClusterClient) =>
    received.map(({ topic, text, packet }) => `${topic.split('/')[2]}=${text}${packet.retain ? '*' : ''}`);

  /** A process as far as its rooms go, which dies when the test lets it. */
  const dying = async () => {
    const connection = await Engine.connect({ url: engine.url });
    onTestFinished(() => connection.close());
    const membership = new Membership(connection, unique('dying'));
    await membership.join();
    const store = new ValkeyPresence(connection, membership, { get: () => undefined });
    const join = async (room: string, member: string) => {
      const clientId = unique('c');
      const key = sessionKey(TENANT, clientId);
      const session = { key, tenant: TENANT, clientId, incarnation: 'i', attachment: undefined };
      const holder = { tenant: TENANT, kind: 'client', name: clientId } as const;
      const message = messageOf({
        topic: presenceTopic(room, member),
        payload: Buffer.from('here'),
        qos: 1,
      });
      return await store.put({ tenant: TENANT, room, member }, { session, holder }, message, LIMITS, 0);
    };
    return { store, join, die: () => membership.end(membership.me) };
  };

  it('watchers at both see the members at both, and new watchers are given them', async () => {
    const room = unique('r');
    const watchers = [await watch(0, room), await watch(1, room)];
    const [ann, bob] = [await at(0), await at(1)];
    await enter(ann, room, 'ann');
    await enter(bob, room, 'bob');
    await enter(ann, room, 'ann', 'away');
    for (const watcher of watchers) {
      await watcher.got(3);
      expect(seenBy(watcher)).toEqual(['ann=here', 'bob=here', 'ann=away']);
    }
    for (const index of [0, 1]) {
      const newcomer = await watch(index, room);
      await newcomer.got(2);
      expect(seenBy(newcomer).sort()).toEqual(['ann=away*', 'bob=here*']);
    }
    const lists = members.map(async ({ httpUrl }) =>
      (await fetch(`${httpUrl}api/v5/presence/${room}`)).json(),
    );
    const [one, two] = (await Promise.all(lists)) as { data: { member: string; clientids: string[] }[] }[];
    expect(one).toEqual(two);
    expect(one?.data.map(({ member }) => member)).toEqual(['ann', 'bob']);
    expect(one?.data[0]?.clientids).toEqual([ann.client.options.clientId]);
  });

  it('all watchers see the changes of one member in one order, wherever clients make them', async () => {
    const room = unique('r');
    const watchers = [await watch(0, room), await watch(0, room), await watch(1, room)];
    const tabs = [await at(0), await at(1), await at(0), await at(1)];
    await Promise.all(
      tabs.map(async (tab, index) => {
        for (let count = 0; count < 25; count += 1) await enter(tab, room, 'ann', `${index}/${count}`);
      }),
    );
    await enter(tabs[0] as ClusterClient, room, 'ann', 'end');
    for (const watcher of watchers) await expect.poll(() => watcher.texts.at(-1), ARRIVAL).toBe('end');
    const [one, ...others] = watchers.map(seenBy);
    for (const other of others) expect(other).toEqual(one);
  });

  it('the limits of a room, and of an identity, are those of all processes', async () => {
    const authenticator = { authenticate: () => ({ tenant: TENANT, name: 'ann' }) };
    const authorizer = { mayPublish: () => true, maySubscribe: () => true };
    const small = { presenceMembersMax: 2, presenceRoomsPerIdentityMax: 3, authenticator, authorizer };
    const own = [await startMember(engine.url, small), await startMember(engine.url, small)];
    onTestFinished(async () => {
      for (const member of own) await member.stop();
    });
    const [room, other] = [unique('r'), unique('r')];
    const clients = await Promise.all(own.map(({ url }) => ClusterClient.connect(url)));
    const codes: unknown[] = [];
    for (const [name, member] of [
      [room, 'a'],
      [room, 'b'],
      [room, 'c'],
      [other, 'a'],
      [other, 'b'],
    ] as const)
      codes.push(
        await enter(clients[codes.length % 2] as ClusterClient, name, member).then(
          () => 0,
          ({ code }: { code: number }) => code,
        ),
      );
    expect(codes).toEqual([0, 0, 0x97, 0, 0x97]);
  });

  it('members of a process that dies stay for the grace, and with clients that come back for longer', async () => {
    const room = unique('r');
    const dead = await startMember(engine.url, options);
    const watcher = await watch(0, room);
    const connect = (fields: object) => ClusterClient.connect(dead.url, fields);
    const [kept, clean, gone] = [{ clientId: unique('k'), ...KEPT }, { clientId: unique('e') }, {}];
    for (const [fields, member] of [
      [kept, 'kept'],
      [clean, 'clean'],
      [gone, 'gone'],
    ] as const)
      await enter(await connect(fields), room, member);
    await watcher.got(3);
    // The process believes that it lives, and can no longer write.
    const [one] = members;
    await one?.cluster?.gone(dead.cluster?.me ?? '');
    await at(1, { ...kept, reconnectPeriod: 200 });
    const back = await at(0, { ...clean, reconnectPeriod: 200 });
    await enter(back, room, 'clean');
    await watcher.got(4);
    expect(seenBy(watcher)).toEqual(['kept=here', 'clean=here', 'gone=here', 'gone=']);
    await new Promise((resolve) => setTimeout(resolve, GRACE_SECONDS * 1000));
    expect(seenBy(watcher)).toHaveLength(4);
    await back.client.endAsync();
    await watcher.got(5);
    expect(seenBy(watcher).at(-1)).toBe('clean=');
  });

  it('members of a process that stops in order leave at once', async () => {
    const room = unique('r');
    const stopping = await startMember(engine.url, { presenceGraceSeconds: 3600 });
    const watcher = await watch(0, room);
    await enter(await ClusterClient.connect(stopping.url), room, 'ann');
    await stopping.stop();
    await watcher.got(2);
    expect(seenBy(watcher)).toEqual(['ann=here', 'ann=']);
  });

  it('a change that a dying process had begun is announced by another one', async () => {
    const room = unique('r');
    const watcher = await watch(0, room);
    const { store, join, die } = await dying();
    expect(await join(room, 'ann')).toMatchObject({ change: 'joined' });
    await store.teller(TENANT, room);
    const taken = await store.takeUntold(TENANT, room, 100, () => messageOf({}) as Message);
    expect(taken.members).toHaveLength(1);
    await die();
    await watcher.got(2);
    expect(seenBy(watcher)).toEqual(['ann=here', 'ann=']);
  });

  it('a change is announced by another process when the one that announces for the room is dead', async () => {
    const room = unique('r');
    const watcher = await watch(0, room);
    const { store, join, die } = await dying();
    await join(room, 'ghost');
    await store.teller(TENANT, room);
    const ann = await at(1);
    const entering = enter(ann, room, 'ann');
    await die();
    await entering;
    await expect.poll(() => seenBy(watcher).sort(), ARRIVAL).toEqual(['ann=here', 'ghost=', 'ghost=here']);
  });

  it('a process that the others have given up changes no room', async () => {
    const room = unique('r');
    const { store, join, die } = await dying();
    await join(room, 'ann');
    await die();
    await expect.poll(() => join(room, 'bob').then(String, String), ARRIVAL).toContain('given this one up');
    await expect(store.teller(TENANT, room)).rejects.toThrow('given this one up');
  });
});
